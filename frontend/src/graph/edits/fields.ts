//! Single nested values in a task or in the pipeline, for forms.

import type { Json, PipelineDocument } from "../document";
import { changeTask } from "./base";
import type { Task } from "../document";

/** The path of a value: keys of mappings and indices of items. */
export type Path = readonly (string | number)[];

/** The value at a path, `undefined` if there is none. */
export function valueAt(whole: unknown, path: Path): Json | undefined {
  let value = whole;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value as Json | undefined;
}

/**
 * Sets a value of a task, or removes it (`undefined`). Missing mappings on the path are created, and empty
 * ones are removed; removing an item closes the gap. Not for `name`: see `renameTask`.
 */
export function setPath(document: PipelineDocument, task: string, path: Path, value: Json | undefined): PipelineDocument {
  return changeTask(document, task, (one) => put(one, path, value) as Task);
}

/**
 * The same for the pipeline's own fields: `setPipelinePath(document, ["parameters", "day", "type"], "date")`.
 */
export function setPipelinePath(document: PipelineDocument, path: Path, value: Json | undefined): PipelineDocument {
  return put(document, path, value) as PipelineDocument;
}

function put(whole: unknown, path: Path, value: Json | undefined): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return value;
  const inner = valueAt(whole, [part]);
  let next = put(inner, rest, value);
  // An emptied item stays, so that the indices of later ones do not change while the user types.
  if (rest.length > 0 && value === undefined && isEmpty(next)) next = typeof part === "number" ? {} : undefined;
  if (Object.is(next, inner)) return whole;
  if (typeof part === "number") return element(Array.isArray(whole) ? whole : [], part, next);
  const kept = Object.entries(isMapping(whole) ? whole : {}).filter(([key]) => next !== undefined || key !== part);
  return next === undefined ? Object.fromEntries(kept) : { ...Object.fromEntries(kept), [part]: next };
}

function element(list: readonly unknown[], at: number, value: unknown): unknown[] {
  if (value === undefined) return list.filter((_, index) => index !== at);
  return at < list.length ? list.with(at, value) : [...list, value];
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}
