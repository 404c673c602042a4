//! Parses pasted text: a whole document, a clip (`tasks:` and `canvas:`), a list of tasks, or one task.
//! Imports the package `yaml`: load it on demand.

import type { Clip } from "./clipboard";
import type { Json, JsonObject } from "./document";
import { isMapping } from "./equal";
import { readTree } from "./source/read";
import { documentOf } from "./source/shape";

/** The clip in a text; undefined if it is no part of a pipeline. */
export function clipFrom(text: string): Clip | undefined {
  const { tree } = readTree(text);
  const whole = tree && asDocument(tree.plain);
  const { document } = whole ? documentOf(whole) : {};
  if (!document || (document.tasks.length === 0 && !document.canvas)) return undefined;
  return document.canvas ? { tasks: document.tasks, canvas: document.canvas } : { tasks: document.tasks };
}

function asDocument(value: Json): JsonObject | undefined {
  if (Array.isArray(value)) return { tasks: value as readonly Json[] };
  if (!isMapping(value)) return undefined;
  if ("tasks" in value || isMapping(value["canvas"])) return { tasks: [], ...value };
  return typeof value["name"] === "string" && typeof value["template"] === "string" ? { tasks: [value] } : undefined;
}
