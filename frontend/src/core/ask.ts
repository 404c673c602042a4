//! Form dialogs.

import { openDialog } from "./dialog";
import { h } from "./dom";
import { onSubmit } from "./form";
import { t } from "./texts";

/** The content of a form dialog. */
export interface Asked {
  title: string;
  fields: HTMLElement[];
  /** The label of its button, a verb. */
  action: string;
  /** Sends the form; errors are shown at the fields, and the dialog stays open. */
  send: (data: FormData) => Promise<void>;
}

let count = 0;

/** Opens a form dialog, which closes once the form is accepted. */
export function ask(asked: Asked): void {
  count += 1;
  const id = `form-${count}`;
  const form = h("form", { class: "form", id }, ...asked.fields);
  const no = h("button", { class: "button", type: "button" }, t("common.cancel"));
  // The buttons are outside the form, and belong to it by its id.
  const yes = h("button", { class: "button primary", type: "submit", form: id }, asked.action);
  const dialog = openDialog({ title: asked.title, body: [form], actions: [no, yes] });
  no.addEventListener("click", () => { dialog.close(); });
  form.querySelector<HTMLElement>("input, select")?.focus();
  onSubmit(form, async (data) => {
    yes.ariaBusy = "true";
    try {
      await asked.send(data);
      dialog.close();
    } finally {
      yes.ariaBusy = null;
    }
  });
}
