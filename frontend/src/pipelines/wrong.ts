//! The dialog that names what prevents a run.

import type { Problem } from "../api/problem";
import { h, icon } from "../core/dom";
import { openDialog } from "../core/dialog";
import { prose } from "../core/prose";
import { t } from "../core/texts";

/** The stored version, to run instead of unsaved changes. */
export interface Instead {
  readonly version: number;
  readonly run: () => void;
}

/** The content of the dialog. */
export interface Wrong {
  /** At least one. */
  errors: readonly Problem[];
  /** Where the first one is: a line, or a task. */
  where: string;
  /** Shows the first error where it can be fixed. */
  show: () => void;
  instead?: Instead;
}

/** The button that runs the stored version instead. */
export function insteadButton({ version, run }: Instead, dialog: () => HTMLDialogElement): HTMLButtonElement {
  const button = h("button", { class: "button", type: "button" }, t("pipeline.run-version", { version }));
  button.addEventListener("click", () => {
    dialog().close();
    run();
  });
  return button;
}

/** Names the first error, and leads to it. */
export function tellWrong({ errors, where, show, instead }: Wrong): void {
  const [first, ...more] = errors;
  const rest = more.length > 0 ? h("p", {}, t("pipeline.run-more-errors", { n: more.length })) : null;
  const text = h("div", { class: "sentence" }, h("p", {}, where === "" ? "" : `${where}: `, ...prose(first?.message ?? "")), rest);
  const body = [h("div", { class: "callout error", role: "alert" }, icon("error"), text)];
  if (instead) body.push(h("p", { class: "section" }, t("pipeline.run-differs", { version: instead.version })));
  const close = h("button", { class: "button", type: "button" }, t("common.close"));
  const go = h("button", { class: "button primary", type: "button" }, t("pipeline.run-show-error"));
  const others = instead ? [insteadButton(instead, () => dialog)] : [];
  const dialog = openDialog({ title: t("pipeline.run-wrong"), body, actions: [close, ...others, go] });
  close.addEventListener("click", () => { dialog.close(); });
  go.addEventListener("click", () => {
    dialog.close();
    show();
  });
  go.focus();
}
