//! Dialogs that ask for something, and dialogs that show what is shown only once.

import { openDialog } from "../core/dialog";
import { h, icon } from "../core/dom";
import { onSubmit } from "../core/form";
import { t } from "../core/texts";

/** What a form in a dialog is made of. */
export interface Asked {
  title: string;
  fields: HTMLElement[];
  /** The word on its button, a verb. */
  action: string;
  /** Sends it; what it throws is shown at the fields, and the dialog stays. */
  send: (data: FormData) => Promise<void>;
}

let count = 0;

/** Opens a form in a dialog; it closes when what it sends is accepted. */
export function ask(asked: Asked): void {
  count += 1;
  const id = `form-${count}`;
  const form = h("form", { class: "form", id }, ...asked.fields);
  const no = h("button", { class: "button", type: "button" }, t("common.cancel"));
  // The buttons stand below the form, and belong to it by its id.
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

/** Shows a secret that nobody can see again; the page is read anew afterwards. */
export function showOnce(title: string, text: string, secret: string): void {
  const copy = h(
    "button",
    { class: "button small quiet icon-only", type: "button", "data-copy": secret, "aria-label": t("common.copy"), title: t("common.copy") },
    icon("copy"),
  );
  const code = h("div", { class: "code people-secret" }, copy, h("pre", { tabindex: "0" }, h("code", {}, secret)));
  const note = h("div", { class: "callout warning", role: "note" }, icon("warning"), h("div", {}, h("p", {}, text)));
  const done = h("button", { class: "button primary", type: "button" }, t("people.done"));
  const dialog = openDialog({ title, body: [note, code], actions: [done] });
  done.addEventListener("click", () => { dialog.close(); });
  dialog.addEventListener("close", () => { location.reload(); });
}
