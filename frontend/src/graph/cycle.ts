//! Ancestors and descendants of tasks: which edges close no cycle.

import type { PipelineDocument } from "./document";

/** All transitive dependents of a task. Without the task itself, unless it is on a cycle. */
export function descendants(document: PipelineDocument, name: string): Set<string> {
  const after = new Map<string, string[]>();
  for (const task of document.tasks) {
    for (const need of task.needs ?? []) {
      const known = after.get(need);
      if (known) known.push(task.name);
      else after.set(need, [task.name]);
    }
  }
  return reached(name, (one) => after.get(one) ?? []);
}

/** All transitive dependencies of a task. */
export function ancestors(document: PipelineDocument, name: string): Set<string> {
  const needs = new Map(document.tasks.toReversed().map((task) => [task.name, task.needs ?? []]));
  const found = reached(name, (one) => needs.get(one) ?? []);
  return new Set([...found].filter((one) => needs.has(one)));
}

/**
 * The forbidden targets of an edge from this task: itself and all its ancestors. Computed once when a drag
 * starts; `has` then answers each move.
 */
export function forbiddenTargets(document: PipelineDocument, from: string): Set<string> {
  return ancestors(document, from).add(from);
}

/** The forbidden sources of an edge to this task: itself and all its descendants. */
export function forbiddenSources(document: PipelineDocument, to: string): Set<string> {
  return descendants(document, to).add(to);
}

/** Whether an edge would close a cycle. */
export function closesCycle(document: PipelineDocument, from: string, to: string): boolean {
  return from === to || ancestors(document, from).has(to);
}

function reached(start: string, next: (name: string) => readonly string[]): Set<string> {
  const found = new Set<string>();
  const left = [...next(start)];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    left.push(...next(name));
  }
  return found;
}
