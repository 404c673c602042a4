//! Writes form values: one field of one task, of several, or of the pipeline. Pure.

import type { Json, PipelineDocument, Task } from "../graph/document";
import { setPath, setPipelinePath, valueAt, type Path } from "../graph/edit";
import { same } from "./path";

/** The selected tasks have different values. */
export const MIXED = Symbol("mixed");

/** The value at a path of the tasks, or of the pipeline if there are none. */
export function readAt(document: PipelineDocument, tasks: readonly Task[], path: Path): Json | undefined | typeof MIXED {
  const [first, ...others] = tasks;
  if (!first) return valueAt(document, path);
  const value = valueAt(first, path);
  return others.every((task) => same(valueAt(task, path), value)) ? value : MIXED;
}

/** Writes at a path of the named tasks, or of the pipeline if no name is given. */
export function writeAt(document: PipelineDocument, tasks: readonly string[], path: Path, value: Json | undefined): PipelineDocument {
  if (tasks.length === 0) return setPipelinePath(document, path, value);
  return tasks.reduce((now, name) => setPath(now, name, path, value), document);
}

/** The value to write: nothing if it is the default. */
export function orDefault(value: Json | undefined, usual: Json | undefined): Json | undefined {
  if (value === undefined || (usual !== undefined && same(value, usual))) return undefined;
  return value;
}
