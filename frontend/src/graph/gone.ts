//! What a version has and the document does not: its tasks, with the edges that they had.

import { difference } from "./diff";
import { edgesOf, taskOf, type PipelineDocument, type Task } from "./document";
import type { Edge } from "./types";

/** Tasks that are gone, and the edges that went with them. An end that is still there has the name that it has now. */
export interface Gone {
  readonly tasks: readonly Task[];
  readonly edges: readonly Edge[];
}

/** What went between two documents. */
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
