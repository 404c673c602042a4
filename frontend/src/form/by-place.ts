//! Assigns problems to fields and tasks. Pure.

import type { Problem } from "../api/problem";
import type { PipelineDocument } from "../graph/document";
import { isWithin } from "./path";

/** The problems of a path; with `deep`, also those below it. */
export function problemsAt(problems: readonly Problem[], pointer: string, deep: boolean): Problem[] {
  return problems.filter(({ path }) => (deep ? isWithin(path, pointer) : path === pointer));
}

/** The index of the task in a problem's path; null for a problem of the pipeline. */
export function taskIndex(path: string): number | null {
  const found = /^\/tasks\/(\d+)(?:\/|$)/.exec(path);
  return found ? Number(found[1]) : null;
}

/** Problems by task, in document order; those of the pipeline come first. */
export function grouped(problems: readonly Problem[], document: PipelineDocument): { task: string | null; problems: Problem[] }[] {
  const groups = new Map<string | null, Problem[]>();
  const index = ({ path }: Problem) => taskIndex(path) ?? -1;
  const inOrder = problems.map((problem, at) => ({ problem, at })).sort((a, b) => index(a.problem) - index(b.problem) || a.at - b.at);
  for (const { problem } of inOrder) {
    const task = document.tasks[index(problem)]?.name ?? null;
    groups.set(task, [...(groups.get(task) ?? []), problem]);
  }
  return [...groups].map(([task, found]) => ({ task, problems: found }));
}

/** The readable path within the task or pipeline: `arguments › args › 2`. */
export function placeWords(path: string): string {
  const own = path.replace(/^\/tasks\/\d+(?=\/|$)/, "");
  return own.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).join(" › ");
}
