//! Information about each task besides the document: its problems, its state in a run, its difference from a
//! version.

import type { Problem } from "../api/problem";
import type { EditorState, LiveTask } from "../editor/store";
import { difference } from "../graph/diff";
import type { PipelineDocument } from "../graph/document";

/** How a task differs from the compared version. */
export type Difference = "added" | "changed";

/** The problems of one task, and the worst severity. */
export interface TaskProblems {
  readonly worst: "error" | "warning";
  readonly problems: readonly Problem[];
}

/** Marks by task, recomputed when their sources change. */
export class Marks {
  #from: Pick<EditorState, "problems" | "document" | "against"> | null = null;
  problems: ReadonlyMap<string, TaskProblems> = new Map();
  differences: ReadonlyMap<string, Difference> = new Map();
  live: ReadonlyMap<string, LiveTask> | null = null;

  /** Updates the marks. Returns whether any has changed. */
  update({ problems, document, against, live }: EditorState): boolean {
    const before = this.#from;
    const changed = live !== this.live || !before || before.problems !== problems || before.document !== document || before.against !== against;
    this.live = live;
    if (!before || before.problems !== problems) this.problems = problemsByTask(problems, document);
    if (!before || before.against !== against || (against && before.document !== document)) {
      this.differences = against ? differences(against, document) : new Map();
    }
    this.#from = { problems, document, against };
    return changed;
  }
}

function problemsByTask(problems: readonly Problem[], document: PipelineDocument): Map<string, TaskProblems> {
  const found = new Map<string, TaskProblems>();
  for (const problem of problems) {
    const index = /^\/tasks\/(\d+)(?:\/|$)/.exec(problem.path)?.[1];
    const name = index === undefined ? undefined : document.tasks[Number(index)]?.name;
    if (name === undefined) continue;
    const before = found.get(name);
    const worst = problem.severity === "error" || before?.worst === "error" ? "error" : "warning";
    found.set(name, { worst, problems: [...(before?.problems ?? []), problem] });
  }
  return found;
}

function differences(before: PipelineDocument, now: PipelineDocument): Map<string, Difference> {
  const { added, changed, renamed } = difference(before, now);
  return new Map([
    ...added.map((name): [string, Difference] => [name, "added"]),
    ...[...changed.keys(), ...renamed.map(({ to }) => to)].map((name): [string, Difference] => [name, "changed"]),
  ]);
}
