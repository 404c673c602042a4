//! Dialogs for values that are shown only once.

import { openDialog } from "../core/dialog";
import { h, icon } from "../core/dom";
import { t } from "../core/texts";

/** Shows a secret for the only time; the page reloads afterwards. */
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
