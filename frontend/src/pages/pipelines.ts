//! The list of pipelines: spark lines, and runs started from the list.

import { paintSparks } from "../components/spark";
import { around } from "../core/dom";
import { busy } from "../core/form";
import { askStartOf } from "../pipelines/start";

/** Starts the page. */
export function start(): void {
  paintSparks();
  const table = document.querySelector<HTMLElement>("#pipelines");
  table?.addEventListener("click", (event) => {
    const button = around(event, "[data-run]");
    const project = table.dataset["project"] ?? "";
    if (button instanceof HTMLButtonElement) void busy(button, () => askStartOf(project, button.dataset["run"] ?? ""));
  });
}
