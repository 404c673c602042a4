//! A text that was copied, as a piece of a pipeline: a whole document, its `tasks:`, a list of tasks or one task. Loaded
//! when somebody pastes, as it needs the parser.

import { parse } from "yaml";
import type { Clip } from "../graph/clipboard";
import type { Task } from "../graph/document";

/** The piece; null when the text is something else. */
export function clipFrom(text: string): Clip | null {
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100 });
  } catch {
    return null;
  }
  if (isTask(value)) return { tasks: [value] };
  if (Array.isArray(value)) return value.length > 0 && value.every(isTask) ? { tasks: value } : null;
  if (!isMapping(value) || !("tasks" in value || "canvas" in value)) return null;
  const tasks = value["tasks"] ?? [];
  if (!Array.isArray(tasks) || !tasks.every(isTask)) return null;
  return isMapping(value["canvas"]) ? { tasks, canvas: value["canvas"] } : { tasks };
}

function isTask(value: unknown): value is Task {
  return isMapping(value) && typeof value["name"] === "string" && typeof value["template"] === "string";
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
