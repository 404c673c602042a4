//! Paths into the document: the JSON pointers that problems have, and reading and writing at one. Pure.

import type { Json, JsonObject } from "../graph/document";

/** Keys of mappings and numbers of list elements, from outside in. */
export type Path = readonly (string | number)[];

/** A path as a JSON pointer (RFC 6901): `/tasks/0/arguments/script`. */
export function pointer(path: Path): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Whether one pointer is another, or leads into what it points at. */
export function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}

/** Whether a value is a mapping. */
export function isMapping(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What lies at a path; undefined when nothing does. */
export function at(value: unknown, path: Path): Json | undefined {
  let found = value;
  for (const part of path) {
    if (Array.isArray(found) && typeof part === "number") found = found[part];
    else if (isMapping(found)) found = Object.hasOwn(found, part) ? found[part] : undefined;
    else return undefined;
  }
  return found as Json | undefined;
}

/**
 * The same with another value at a path. `undefined` takes it away, and with it the mappings around it that become
 * empty; elements of a list stay where they are. What does not change is the same object as before.
 */
export function put(value: Json | undefined, path: Path, to: Json | undefined): Json | undefined {
  const [part, ...rest] = path;
  if (part === undefined) return to;
  if (typeof part === "number") return putElement(Array.isArray(value) ? value : [], part, rest, to);
  const mapping = isMapping(value) ? value : {};
  const before = Object.hasOwn(mapping, part) ? mapping[part] : undefined;
  const after = put(before, rest, to);
  if (after !== undefined) return after === before ? value : { ...mapping, [part]: after };
  if (before === undefined) return value;
  const left = Object.entries(mapping).filter(([key]) => key !== part);
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

function putElement(list: readonly Json[], index: number, rest: Path, to: Json | undefined): Json {
  const before = list[index];
  const after = put(before, rest, to) ?? (isMapping(before) ? {} : "");
  return after === before ? list : list.toSpliced(index, 1, after);
}

/** Whether two values are equal, in whatever order their keys are. */
export function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((each, index) => same(each, other[index]));
  }
  if (!isMapping(one) || !isMapping(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && same(one[key], other[key]));
}
