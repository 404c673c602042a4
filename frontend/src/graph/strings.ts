//! The strings of a task that may contain expressions.

import type { Json, Task } from "./document";
import type { Path } from "./edits/fields";

/** The fields of a task whose strings may contain expressions. */
export const EXPRESSION_FIELDS = ["arguments", "env", "setup", "when", "for_each", "search", "cache"] as const;

/** Whether the string at a path of a task is an expression without braces around it. */
export function isBare(path: Path): boolean {
  return (path.length === 1 && path[0] === "when") || (path.length === 2 && path[0] === "for_each" && path[1] === "from");
}

/** Calls `visit` for every string of a task that may contain an expression. */
export function visitStrings(task: Task, visit: (text: string, path: Path) => void): void {
  mapStrings(task, (text, path) => {
    visit(text, path);
    return text;
  });
}

/** A task with its expression strings mapped; itself if none changes. */
export function mapStrings(task: Task, change: (text: string, path: Path) => string): Task {
  let changed = task;
  for (const field of EXPRESSION_FIELDS) {
    const value = task[field];
    const next = value === undefined ? undefined : mapped(value, [field], change);
    if (next !== value) changed = { ...changed, [field]: next };
  }
  return changed;
}

function mapped(value: Json, path: Path, change: (text: string, path: Path) => string): Json {
  if (typeof value === "string") return change(value, path);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) {
    const next = value.map((one, at) => mapped(one, [...path, at], change));
    return next.some((one, at) => one !== value[at]) ? next : value;
  }
  const next = Object.entries(value).map(([key, one]) => [key, mapped(one, [...path, key], change)] as const);
  return next.some(([key, one]) => one !== value[key]) ? Object.fromEntries(next) : value;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
