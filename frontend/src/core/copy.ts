//! Copy buttons: `data-copy` has the text, or is empty beside a <pre>.

import { around, icon } from "./dom";
import { t } from "./texts";
import { toast } from "./toast";

/** Activates every copy button of the page. */
export function watchCopies(): void {
  document.addEventListener("click", (event) => {
    const button = around(event, "[data-copy]");
    if (button) void copyBy(button);
  });
}

async function copyBy(button: HTMLElement): Promise<void> {
  const text = button.dataset["copy"] || (button.parentElement?.querySelector("pre, code")?.textContent ?? "");
  try {
    await navigator.clipboard.writeText(text);
    button.querySelector(".icon")?.replaceWith(icon("check"));
    setTimeout(() => button.querySelector(".icon")?.replaceWith(icon("copy")), 1500);
  } catch {
    // Without HTTPS or localhost, the page has no clipboard access.
    toast(t("common.copy-failed"), "error");
  }
}
