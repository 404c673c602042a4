//! Which instance of the form a task gets. Renaming a task keeps its instance, and with it unfinished input.

import { useRef } from "react";
import type { PipelineDocument } from "../graph/document";

/** The shown task; without one, the form shows the pipeline. */
export interface Shown {
  readonly key: number;
  readonly name: string | undefined;
  readonly index: number;
  /** The number of tasks in the document. */
  readonly count: number;
}

export const NONE: Shown = { key: 0, name: undefined, index: -1, count: 0 };

/** The next shown task: with another key, unless it is the same task. */
export function shownAfter(before: Shown, { tasks }: PipelineDocument, name: string | undefined): Shown {
  const index = tasks.findIndex((task) => task.name === name);
  const isThere = tasks.some((task) => task.name === before.name);
  const renamed = index >= 0 && index === before.index && tasks.length === before.count && !isThere;
  const key = name === before.name || renamed ? before.key : before.key + 1;
  return { key, name, index, count: tasks.length };
}

/** The key of the form of the task with this name. */
export function useInstance(document: PipelineDocument, name: string | undefined): number {
  const shown = useRef(NONE);
  shown.current = shownAfter(shown.current, document, name);
  return shown.current.key;
}
