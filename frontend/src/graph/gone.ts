//! Removed parts: tasks of a version that the document does not have, with their edges.

import { difference } from "./diff";
import { edgesOf, taskOf, type PipelineDocument, type Task } from "./document";
import type { Edge } from "./types";

/** Removed tasks and edges. An end that still exists has its current name. */
export interface Gone {
  readonly tasks: readonly Task[];
  readonly edges: readonly Edge[];
}

/** The parts removed between two documents. */
export function goneSince(before: PipelineDocument, now: PipelineDocument): Gone {
  const { removed, renamed } = difference(before, now);
  const names = new Map(renamed.map(({ from, to }) => [from, to]));
  const gone = new Set(removed);
  const edges = edgesOf(before).filter(({ from, to }) => gone.has(from) || gone.has(to));
  return {
    tasks: removed.flatMap((name) => taskOf(before, name) ?? []),
    edges: edges.map(({ from, to }) => ({ from: names.get(from) ?? from, to: names.get(to) ?? to })),
  };
}
