// The files tab: a click on a file's name shows its content.

import { around } from "../core/dom";
import { trying } from "../core/form";
import { showPreview } from "../storage/preview";
import type { Tab } from "./tab";

export function open(run: string): Tab {
  document.addEventListener("click", (event) => {
    const path = around(event, "[data-file]")?.dataset["file"];
    // A click that opens another tab gets the file itself.
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (path === undefined || !plain || !around(event, "[data-preview]")) return;
    event.preventDefault();
    void trying(() => showPreview(`/runs/${run}`, path));
  });
  return { refreshed: () => undefined };
}
