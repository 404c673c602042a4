//! Dialogs: the native <dialog> traps and restores the focus.

import { h, icon } from "./dom";
import { t } from "./texts";

/** The content of a dialog. */
export interface DialogParts {
  title: string;
  body: Node[];
  /** The buttons; the last is the primary one. */
  actions?: HTMLElement[];
  large?: boolean;
}

let count = 0;

/** Opens and returns a dialog, which is removed when it is closed. */
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

/** The confirmation of an irreversible action. */
export interface Question {
  title: string;
  text: string;
  /** The label of the button, a verb. */
  action: string;
  danger?: boolean;
  /** Text that must be typed first, e.g. the name of the deleted object. */
  typed?: string;
  /** An additional field. */
  field?: HTMLElement;
  /** The part of it that is required. */
  needs?: HTMLTextAreaElement;
}

/** Opens the dialog; resolves to whether the user confirmed. */
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
