//! The difference between two documents, by task and field. Canvas positions are separate from content.

import type { Canvas, Json, PipelineDocument, Task } from "./document";
import { without } from "./edits/base";
import type { Path } from "./edits/fields";
import { withNames } from "./edits/rename";
import { equal, isMapping } from "./equal";

/** One changed value; `undefined` if absent. */
export interface FieldChange {
  readonly path: Path;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** The whole difference. Task names are the new ones, except for `removed` and `renamed.from`. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly renamed: readonly { from: string; to: string }[];
  readonly changed: ReadonlyMap<string, readonly FieldChange[]>;
  /** The pipeline's own fields. */
  readonly pipeline: readonly FieldChange[];
  /** Fields of `canvas`: positions, frames, notes. */
  readonly canvas: readonly FieldChange[];
}

/** Compares two documents. A task with another name and nothing else changed counts as renamed. */
export function difference(before: PipelineDocument, after: PipelineDocument): Difference {
  const names = renames(before, after);
  const old = new Map(before.tasks.map((task) => [names.get(task.name) ?? task.name, task]));
  const now = new Map(after.tasks.map((task) => [task.name, task]));
  const changed = new Map<string, FieldChange[]>();
  for (const [name, task] of now) {
    const was = old.get(name);
    if (!was || was === task) continue;
    const changes = taskChanges(names.size > 0 ? withNames(was, names) : was, task);
    if (changes.length > 0) changed.set(name, changes);
  }
  const canvas = names.size > 0 ? canvasWithNames(before.canvas, names) : before.canvas;
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    renamed: [...names].map(([from, to]) => ({ from, to })),
    changed,
    pipeline: fieldChanges(ownFields(before), ownFields(after)),
    canvas: fieldChanges((canvas ?? {}) as unknown as Json, (after.canvas ?? {}) as unknown as Json),
  };
}

/** Whether a difference is empty; with `canvas: false`, ignoring positions, frames and notes. */
export function isEmptyDifference({ added, removed, renamed, changed, pipeline, canvas }: Difference, parts: { canvas: boolean } = { canvas: true }): boolean {
  const lists = [added, removed, renamed, pipeline, parts.canvas ? canvas : []];
  return changed.size === 0 && lists.every((list) => list.length === 0);
}

/** The changed values inside of two values; lists are compared as a whole. */
export function fieldChanges(before: Json | undefined, after: Json | undefined, path: Path = []): FieldChange[] {
  if (equal(before, after)) return [];
  if (!isMapping(before) || !isMapping(after)) return [{ path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => fieldChanges(own(before, key), own(after, key), [...path, key]));
}

function taskChanges(before: Task, after: Task): FieldChange[] {
  const sameNeeds = equal([...(before.needs ?? [])].sort(), [...(after.needs ?? [])].sort());
  const content = (task: Task) => without({ ...task, name: undefined, needs: sameNeeds ? undefined : task.needs }) as Json;
  return fieldChanges(content(before), content(after));
}

// Each removed task is compared with each new one; beyond this many pairs, all count as removed and added.
const RENAMES = 250_000;

/**
 * Renamed tasks, by old name: a removed task and a new one with the same content. The order of tasks and
 * their dependencies disambiguate equal ones.
 */
export function renames(before: PipelineDocument, after: PipelineDocument): Map<string, string> {
  const [was, now] = [new Set(before.tasks.map((task) => task.name)), new Set(after.tasks.map((task) => task.name))];
  const gone = before.tasks.filter((task) => !now.has(task.name));
  const come = new Set(after.tasks.filter((task) => !was.has(task.name)));
  const names = new Map<string, string>();
  if (gone.length === 0 || come.size === 0 || gone.length * come.size > RENAMES) return names;
  for (let found = true; found; ) {
    found = false;
    for (const task of gone) {
      if (names.has(task.name)) continue;
      const known = withNames(task, names);
      const alike = [...come].filter((other) => sameContent(known, other));
      const best = alike.find((other) => equal(known.needs, other.needs)) ?? alike[0];
      if (!best) continue;
      names.set(task.name, best.name);
      come.delete(best);
      found = true;
    }
  }
  return names;
}

function sameContent(a: Task, b: Task): boolean {
  const content = (task: Task) => without({ ...task, name: undefined, needs: undefined });
  return a.template === b.template && equal(content(a), content(b));
}

export function ownFields(document: PipelineDocument): Json {
  return without({ ...document, tasks: undefined, canvas: undefined }) as Json;
}

/** The canvas with renamed tasks. */
export function canvasWithNames(canvas: Canvas | undefined, names: ReadonlyMap<string, string>): Canvas | undefined {
  if (!canvas) return undefined;
  const named = (name: string) => names.get(name) ?? name;
  const { positions, frames, ...other } = canvas;
  return {
    ...other,
    ...(positions && { positions: Object.fromEntries(Object.entries(positions).map(([name, at]) => [named(name), at])) }),
    ...(frames && { frames: Object.fromEntries(Object.entries(frames).map(([id, frame]) => [id, { ...frame, tasks: frame.tasks.map(named) }])) }),
  };
}

function own(mapping: Readonly<Record<string, unknown>>, key: string): Json | undefined {
  return Object.hasOwn(mapping, key) ? (mapping[key] as Json | undefined) : undefined;
}
