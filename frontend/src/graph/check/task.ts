//! Names and settings of a single task.

import type { Task } from "../document";
import { mistake, type Finding } from "../finding";
import { isLabelText, labelOf, reserved } from "./words";

export function checkTask(task: Task, at: number, findings: Finding[]): void {
  const path = `/tasks/${at}`;
  isLabel(task.name, `${path}/name`, findings);
  if (task.template.trim() === "") findings.push(mistake("invalid_value", `${path}/template`, /* text */ "graph.empty"));
  reserved(path, task["env"], findings);
  const trigger = task["trigger"];
  if (trigger !== undefined && trigger !== "all_success" && (task.needs ?? []).length === 0) {
    findings.push({ ...mistake("suspicious", `${path}/trigger`, /* text */ "graph.trigger-without-needs"), severity: "warning" });
  }
}

/** Reports a text that is no valid name. */
export function isLabel(name: string, path: string, findings: Finding[]): void {
  if (isLabelText(name)) return;
  const near = labelOf(name);
  findings.push(
    near === undefined
      ? mistake("invalid_name", path, /* text */ "graph.invalid-name", { name })
      : mistake("invalid_name", path, /* text */ "graph.invalid-name-near", { name, near }),
  );
}
