//! The list of pipelines: sparklines, and starting runs from the list.

import { paintSparks } from "../components/spark";
import { around } from "../core/dom";
import { busy } from "../core/form";
import { askStartOf } from "../pipelines/start";

export function start(): void {
  paintSparks();
  const table = document.querySelector<HTMLElement>("#pipelines");
  table?.addEventListener("click", (event) => {
    const button = around(event, "[data-run]");
    const project = table.dataset["project"] ?? "";
    if (button instanceof HTMLButtonElement) void busy(button, () => askStartOf(project, button.dataset["run"] ?? ""));
  });
}
