//! The basic changes that make up the others.

import type { Canvas, Json, PipelineDocument, Task } from "../document";
import type { Point } from "../types";

/** Changes the first task of that name. It must not change `name`: see `renameTask`. */
export function changeTask(document: PipelineDocument, name: string, change: (task: Task) => Task): PipelineDocument {
  const at = document.tasks.findIndex((task) => task.name === name);
  const task = document.tasks[at];
  return task ? withTasks(document, document.tasks.with(at, change(task))) : document;
}

/** Sets one field of a task, or removes it (`undefined`). */
export function setField(document: PipelineDocument, name: string, field: string, value: Json | undefined): PipelineDocument {
  return changeTask(document, name, (task) => (task[field] === value ? task : (without({ ...task, [field]: value }) as Task)));
}

/** Adds a task at a position. Its name must be free: see `freeName`. */
export function addTask(document: PipelineDocument, task: Task, at?: Point): PipelineDocument {
  const added = { ...document, tasks: [...document.tasks, task] };
  return at ? place(added, { [task.name]: at }) : added;
}

/** Sets positions of nodes; other nodes stay. */
export function place(document: PipelineDocument, positions: Readonly<Record<string, Point>>): PipelineDocument {
  const before = document.canvas?.positions ?? {};
  const moved = Object.entries(positions).filter(([name, at]) => !Object.hasOwn(before, name) || !samePoint(before[name], at));
  return moved.length === 0 ? document : withCanvas(document, { positions: { ...before, ...Object.fromEntries(moved) } });
}

/**
 * `to` needs `from`. No change for an existing edge or a loop. The caller checks for cycles: see
 * `closesCycle`.
 */
export function connect(document: PipelineDocument, from: string, to: string): PipelineDocument {
  if (from === to) return document;
  return changeTask(document, to, (task) => (task.needs?.includes(from) ? task : { ...task, needs: [...(task.needs ?? []), from] }));
}

/** `to` needs `from` no longer. */
export function disconnect(document: PipelineDocument, from: string, to: string): PipelineDocument {
  return changeTask(document, to, (task) => (task.needs?.includes(from) ? withNeeds(task, task.needs.filter((need) => need !== from)) : task));
}

/** A task with these dependencies; the key is removed if there are none. */
export function withNeeds(task: Task, needs: readonly string[]): Task {
  return without({ ...task, needs: needs.length > 0 ? needs : undefined }) as Task;
}

/** A free task name: `wanted`, or `wanted-2`, `wanted-3`, ...; at most 63 characters, the limit of names. */
export function freeName(taken: ReadonlySet<string>, wanted: string): string {
  if (!taken.has(wanted)) return wanted;
  const stem = wanted.replace(/-\d{1,6}$/, "");
  for (let number = 2; ; number += 1) {
    const name = `${stem.slice(0, 55).replace(/-+$/, "")}-${number}`;
    if (!taken.has(name)) return name;
  }
}

/** Replaces parts of the canvas; `undefined` and empty parts are removed, and finally the canvas itself. */
export function withCanvas(document: PipelineDocument, parts: { [K in keyof Canvas]?: Canvas[K] | undefined }): PipelineDocument {
  const canvas = without({ ...document.canvas, ...parts });
  const filled = Object.entries(canvas).filter(([, part]) => typeof part !== "object" || part === null || Object.keys(part).length > 0);
  return without({ ...document, canvas: filled.length > 0 ? Object.fromEntries(filled) : undefined }) as unknown as PipelineDocument;
}

/** A document with these tasks; itself if they are the same. */
export function withTasks(document: PipelineDocument, tasks: readonly Task[]): PipelineDocument {
  const same = tasks.length === document.tasks.length && tasks.every((task, index) => task === document.tasks[index]);
  return same ? document : { ...document, tasks };
}

/** A mapping without undefined values. */
export function without(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}

function samePoint(a: Point | undefined, b: Point): boolean {
  return a?.[0] === b[0] && a[1] === b[1];
}
