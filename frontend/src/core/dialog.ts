//! Dialogs: the browser's own <dialog> keeps the focus inside and gives it back.

import { h, icon } from "./dom";
import { t } from "./texts";

/** What a dialog is made of. */
export interface DialogParts {
  title: string;
  body: Node[];
  /** Buttons of the foot; the last is the one that does it. */
  actions?: HTMLElement[];
  large?: boolean;
}

let count = 0;

/** Opens a dialog and returns it; it leaves the page when it is closed. */
export function openDialog(parts: DialogParts): HTMLDialogElement {
  count += 1;
  const id = `dialog-${count}`;
  const close = h("button", { class: "button quiet icon-only small", type: "button", "aria-label": t("common.close") }, icon("close"));
  const dialog = h(
    "dialog",
    { class: parts.large ? "dialog large" : "dialog", "aria-labelledby": id },
    h("div", { class: "dialog-head" }, h("h2", { id }, parts.title), close),
    h("div", { class: "dialog-body" }, ...parts.body),
    parts.actions && h("div", { class: "dialog-foot" }, ...parts.actions),
  );
  close.addEventListener("click", () => { dialog.close(); });
  dialog.addEventListener("close", () => { dialog.remove(); });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** What is asked before something is done that cannot be undone. */
export interface Question {
  title: string;
  text: string;
  /** The word on the button, a verb. */
  action: string;
  danger?: boolean;
  /** What has to be typed first, e.g. the name of what is deleted. */
  typed?: string;
  /** What more is asked for. */
  field?: HTMLElement;
  /** What of it must be filled in. */
  needs?: HTMLTextAreaElement;
}

/** Asks; resolves to whether somebody said yes. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const look = question.danger ? "button danger primary" : "button primary";
    const yes = h("button", { class: look, type: "button" }, question.action);
    const no = h("button", { class: "button", type: "button", autofocus: !question.typed }, t("common.cancel"));
    const body: Node[] = [h("p", {}, question.text)];
    if (question.typed !== undefined) body.push(typedField(question.typed, yes));
    if (question.field !== undefined) body.push(question.field);
    const { needs } = question;
    if (needs !== undefined) {
      const weigh = (): void => { yes.disabled = needs.value.trim() === ""; };
      needs.addEventListener("input", weigh);
      weigh();
    }
    const dialog = openDialog({ title: question.title, body, actions: [no, yes] });
    no.addEventListener("click", () => { dialog.close(); });
    yes.addEventListener("click", () => { dialog.close("yes"); });
    dialog.addEventListener("close", () => { resolve(dialog.returnValue === "yes"); });
  });
}

function typedField(wanted: string, button: HTMLButtonElement): HTMLElement {
  const input = h("input", { class: "input mono", id: "typed", autocomplete: "off", autofocus: true });
  button.disabled = true;
  input.addEventListener("input", () => { button.disabled = input.value !== wanted; });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !button.disabled) button.click();
  });
  const label = h("label", { for: "typed" }, t("common.type-to-confirm", { name: wanted }));
  return h("div", { class: "field section" }, label, input);
}
