//! Inserts tasks into the graph and removes items from it.

import { itemOf, type ItemId, type PipelineDocument, type Task } from "../document";
import { closesCycle } from "../cycle";
import type { Point } from "../types";
import { addTask, changeTask, withCanvas, withNeeds, withTasks } from "./base";
import { dissolveFrame, removeFromFrame } from "./frames";
import { removeNotes } from "./notes";

/** Options of a removal. */
export interface Removal {
  /** Dependents of a removed task inherit its dependencies. */
  join?: boolean;
}

/**
 * Removes the selected items. Removing a task also removes its edges, its position and its frame membership;
 * removing a frame keeps its tasks. Expressions that read outputs of removed tasks stay: the check reports
 * them.
 */
export function removeItems(document: PipelineDocument, ids: Iterable<ItemId>, { join = false }: Removal = {}): PipelineDocument {
  const [tasks, notes, cut] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let changed = document;
  for (const id of ids) {
    const { kind, name } = itemOf(id);
    if (kind === "task") tasks.add(name);
    else if (kind === "note") notes.add(name);
    else if (kind === "edge") cut.add(name);
    else changed = dissolveFrame(changed, name);
  }
  changed = withoutEdges(changed, cut);
  const there = changed.tasks.some((task) => tasks.has(task.name));
  return removeNotes(there ? withoutTasks(changed, tasks, join) : changed, notes);
}

/** Removes edges, given as `from>to`. */
function withoutEdges(document: PipelineDocument, cut: ReadonlySet<string>): PipelineDocument {
  if (cut.size === 0) return document;
  return withTasks(document, document.tasks.map((task) => {
    const needs = task.needs?.filter((need) => !cut.has(`${need}>${task.name}`));
    return needs?.length === task.needs?.length ? task : withNeeds(task, needs ?? []);
  }));
}

function withoutTasks(document: PipelineDocument, gone: ReadonlySet<string>, join: boolean): PipelineDocument {
  const needsOf = new Map(document.tasks.map((task) => [task.name, task.needs ?? []]));
  const instead = (need: string, seen: Set<string>): readonly string[] => {
    if (!gone.has(need)) return [need];
    if (!join || seen.has(need)) return [];
    seen.add(need);
    return (needsOf.get(need) ?? []).flatMap((before) => instead(before, seen));
  };
  const tasks = document.tasks.filter((task) => !gone.has(task.name)).map((task) => {
    if (!task.needs?.some((need) => gone.has(need))) return task;
    const seen = new Set<string>();
    return withNeeds(task, [...new Set(task.needs.flatMap((need) => instead(need, seen)))]);
  });
  const positions = document.canvas?.positions;
  const unframed = removeFromFrame(withTasks(document, tasks), gone);
  if (!positions) return unframed;
  return withCanvas(unframed, { positions: Object.fromEntries(Object.entries(positions).filter(([name]) => !gone.has(name))) });
}

/**
 * Inserts a task between two connected ones: a new task, or by its name an existing one. Unchanged if they
 * are not connected, or if it would close a cycle.
 */
export function insertOnEdge(document: PipelineDocument, task: Task | string, from: string, to: string, at?: Point): PipelineDocument {
  const name = typeof task === "string" ? task : task.name;
  const added = typeof task === "string" ? document : addTask(document, task, at);
  if (name === from || name === to || !needsOf(document, to).includes(from)) return document;
  const middle = changeTask(added, name, (one) => withNeeds(one, [...new Set([...(one.needs ?? []), from])]));
  const joined = changeTask(middle, to, (one) => withNeeds(one, [...new Set((one.needs ?? []).map((need) => (need === from ? name : need)))]));
  return closesCycle(added, from, name) || closesCycle(middle, name, to) ? document : joined;
}

function needsOf(document: PipelineDocument, name: string): readonly string[] {
  return document.tasks.find((task) => task.name === name)?.needs ?? [];
}
