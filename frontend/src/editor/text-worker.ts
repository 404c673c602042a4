//! The worker that reads and writes texts: YAML of thousands of tasks takes seconds, and the page goes on meanwhile.

import type { PipelineDocument } from "../graph/document";
import type { Finding } from "../graph/finding";
import { SourceText } from "../graph/text";

/** What is to be done: a text read, or a document written into one. `id` is given back with the answer. */
export type TextJob =
  | { readonly id: number; readonly text: string; readonly document?: undefined }
  | { readonly id: number; readonly text: string; readonly document: PipelineDocument };

/** What a text says and what is wrong with it, or the text that was written. */
export interface TextResult {
  readonly id: number;
  readonly text: string;
  readonly document: PipelineDocument | undefined;
  readonly findings: readonly Finding[];
}

// Most often a document is written into the text that was read or written last.
let last: SourceText | null = null;

addEventListener("message", ({ data: { id, text, document } }: MessageEvent<TextJob>) => {
  const before = last?.text === text ? last : SourceText.parse(text);
  last = document ? before.with(document) : before;
  const result: TextResult = { id, text: last.text, document: document ? undefined : last.document, findings: document ? [] : last.problems };
  postMessage(result);
});
