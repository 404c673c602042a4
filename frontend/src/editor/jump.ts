//! From a problem's path to what it is about.

import type { PipelineDocument } from "../graph/document";

/** The task that a JSON pointer leads into; null when it leads elsewhere. */
export function taskOfPath(document: PipelineDocument, path: string): string | null {
  const found = /^\/tasks\/(\d+)/.exec(path);
  return (found && document.tasks[Number(found[1])]?.name) ?? null;
}
