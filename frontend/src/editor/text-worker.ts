//! The web worker that parses and writes texts: YAML with thousands of tasks takes seconds, which must not
//! block the page.

import type { PipelineDocument } from "../graph/document";
import type { Finding } from "../graph/finding";
import { SourceText } from "../graph/text";

/** A job: parse a text, or write a document into one. The response has the same `id`. */
export type TextJob =
  | { readonly id: number; readonly text: string; readonly document?: undefined }
  | { readonly id: number; readonly text: string; readonly document: PipelineDocument };

/** The parsed document with its problems, or the written text. */
export interface TextResult {
  readonly id: number;
  readonly text: string;
  readonly document: PipelineDocument | undefined;
  readonly findings: readonly Finding[];
}

// Usually a document is written into the last text that was parsed or written.
let last: SourceText | null = null;

addEventListener("message", ({ data: { id, text, document } }: MessageEvent<TextJob>) => {
  const before = last?.text === text ? last : SourceText.parse(text);
  last = document ? before.with(document) : before;
  const result: TextResult = { id, text: last.text, document: document ? undefined : last.document, findings: document ? [] : last.problems };
  postMessage(result);
});
