//! Possible dependencies of a task. Pure.

import type { PipelineDocument, Task } from "../../graph/document";
import { forbiddenSources } from "../../graph/cycle";

/** The tasks that are neither dependencies yet nor descendants. */
export function candidates(document: PipelineDocument, task: Task): string[] {
  const needed = new Set(task.needs);
  const later = forbiddenSources(document, task.name);
  return document.tasks.map((one) => one.name).filter((name) => !needed.has(name) && !later.has(name));
}
