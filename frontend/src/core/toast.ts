//! Toasts: short feedback at the edge of the page.

import { h, icon, need } from "./dom";
import { t } from "./texts";

const SHOWN_MS = 6000;

/** Reports success (`good`) or failure (`error`, which stays until it is closed). */
export function toast(message: string, kind: "good" | "error" = "good"): void {
  const close = h("button", { class: "button quiet icon-only small", type: "button", "aria-label": t("common.close") }, icon("close"));
  const note = h("div", { class: "toast", "data-kind": kind }, icon(kind === "good" ? "check" : "error"), h("p", {}, message), close);
  close.addEventListener("click", () => { note.remove(); });
  need("#toasts").append(note);
  if (kind === "good") setTimeout(() => { note.remove(); }, SHOWN_MS);
}

const KEPT = "cubeloom.toast";

/** Shows it on the next page. */
export function toastLater(message: string): void {
  sessionStorage.setItem(KEPT, message);
}

/** Shows the previous page's message. */
export function showKept(): void {
  const message = sessionStorage.getItem(KEPT);
  if (message === null) return;
  sessionStorage.removeItem(KEPT);
  toast(message);
}
