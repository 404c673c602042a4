//! Renames tasks and parameters, with all references.

import type { PipelineDocument, Task } from "../document";
import { renameParametersIn, renameTasksIn } from "../expression";
import { isBare, mapStrings } from "../strings";
import { freeName, withCanvas, withNeeds, withTasks } from "./base";

/**
 * Renames a task, and updates dependencies, frames, its position and the expressions of all tasks. A name of
 * another task is refused (unchanged). Of several tasks of that name, the first is renamed.
 */
export function renameTask(document: PipelineDocument, name: string, next: string): PipelineDocument {
  if (name === next || document.tasks.some((task) => task.name === next)) return document;
  const at = document.tasks.findIndex((task) => task.name === name);
  const task = document.tasks[at];
  if (!task) return document;
  const names = new Map([[name, next]]);
  const tasks = document.tasks.with(at, { ...task, name: next }).map((one) => withNames(one, names));
  return renameOnCanvas(withTasks(document, tasks), name, next);
}

/** Renames a parameter, and updates the expressions of all tasks. A taken name is refused (unchanged). */
export function renameParameter(document: PipelineDocument, name: string, next: string): PipelineDocument {
  const before = Object.entries(document.parameters ?? {});
  const at = before.findIndex(([one]) => one === name);
  const parameter = before[at]?.[1];
  if (parameter === undefined || before.some(([one]) => one === next)) return document;
  const names = new Map([[name, next]]);
  const tasks = document.tasks.map((task) => mapStrings(task, (text, path) => renameParametersIn(text, names, isBare(path))));
  return { ...withTasks(document, tasks), parameters: Object.fromEntries(before.with(at, [next, parameter])) };
}

/** A task with renamed dependencies and expressions. Its own name stays. */
export function withNames(task: Task, names: ReadonlyMap<string, string>): Task {
  const renamed = mapStrings(task, (text, path) => renameTasksIn(text, names, isBare(path)));
  if (!task.needs?.some((need) => names.has(need))) return renamed;
  return withNeeds(renamed, [...new Set(task.needs.map((need) => names.get(need) ?? need))]);
}

function renameOnCanvas(document: PipelineDocument, name: string, next: string): PipelineDocument {
  const { positions, frames } = document.canvas ?? {};
  const placed = positions && Object.hasOwn(positions, name);
  const framed = Object.values(frames ?? {}).some((frame) => frame.tasks.includes(name));
  if (!placed && !framed) return document;
  return withCanvas(document, {
    positions: positions && Object.fromEntries(Object.entries(positions).map(([task, at]) => [task === name ? next : task, at])),
    frames: frames && Object.fromEntries(Object.entries(frames).map(([id, frame]) => [id, { ...frame, tasks: frame.tasks.map((task) => (task === name ? next : task)) }])),
  });
}

/** A free name for each of these names: the name itself if it is free. */
export function freshNames(document: PipelineDocument, wanted: readonly string[]): Map<string, string> {
  const taken = new Set(document.tasks.map((task) => task.name));
  return new Map(wanted.map((name) => {
    const fresh = freeName(taken, name);
    taken.add(fresh);
    return [name, fresh];
  }));
}
