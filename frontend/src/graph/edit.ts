//! Changes of a document. Each takes one and gives another; what did not change is the same object as before.

import type { Canvas, Json, PipelineDocument, Task } from "./document";
import type { Point } from "./types";

/** Changes one task. `name` is not changed here: see `renameTask`. */
export function changeTask(document: PipelineDocument, name: string, change: (task: Task) => Task): PipelineDocument {
  return withTasks(document, document.tasks.map((task) => (task.name === name ? change(task) : task)));
}

/** Sets one field of a task, or takes it away (`undefined`). */
export function setField(document: PipelineDocument, name: string, field: string, value: Json | undefined): PipelineDocument {
  return changeTask(document, name, (task) => without({ ...task, [field]: value }) as Task);
}

/** A task is added at a place. Its name must be free: see `freeName`. */
export function addTask(document: PipelineDocument, task: Task, at?: Point): PipelineDocument {
  const added = { ...document, tasks: [...document.tasks, task] };
  return at ? place(added, { [task.name]: at }) : added;
}

/** Moves nodes. */
export function place(document: PipelineDocument, positions: Readonly<Record<string, Point>>): PipelineDocument {
  return withCanvas(document, { positions: { ...document.canvas?.positions, ...positions } });
}

/** `to` needs `from`. Already there, or a loop: unchanged. Whether it closes a cycle is asked before. */
export function connect(document: PipelineDocument, from: string, to: string): PipelineDocument {
  if (from === to) return document;
  return changeTask(document, to, (task) => (task.needs?.includes(from) ? task : { ...task, needs: [...(task.needs ?? []), from] }));
}

/** `to` needs `from` no longer. */
export function disconnect(document: PipelineDocument, from: string, to: string): PipelineDocument {
  return changeTask(document, to, (task) => {
    if (!task.needs?.includes(from)) return task;
    const needs = task.needs.filter((need) => need !== from);
    return without({ ...task, needs: needs.length > 0 ? needs : undefined }) as Task;
  });
}

/** A name that no task has: `wanted`, or `wanted-2`, `wanted-3`, ... */
export function freeName(taken: ReadonlySet<string>, wanted: string): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) {
    const name = `${wanted.slice(0, 58)}-${number}`;
    if (!taken.has(name)) return name;
  }
}

/** Replaces parts of the canvas. */
export function withCanvas(document: PipelineDocument, parts: { [K in keyof Canvas]?: Canvas[K] | undefined }): PipelineDocument {
  return { ...document, canvas: without({ ...document.canvas, ...parts }) };
}

function withTasks(document: PipelineDocument, tasks: readonly Task[]): PipelineDocument {
  return tasks.every((task, index) => task === document.tasks[index]) ? document : { ...document, tasks };
}

function without(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
