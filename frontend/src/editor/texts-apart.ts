//! The client of the text worker, which starts with the first request and lives as long as the page.

import type { PipelineDocument } from "../graph/document";
import type { Finding } from "../graph/finding";
import type { TextJob, TextResult } from "./text-worker";

interface Waiting {
  readonly resolve: (result: TextResult) => void;
  readonly reject: (error: Error) => void;
}

let worker: Worker | null = null;
let count = 0;
const waiting = new Map<number, Waiting>();

/** Parses a text: the document, unless the problems say why there is none. */
export async function readText(text: string): Promise<{ document: PipelineDocument | undefined; findings: readonly Finding[] }> {
  return ask({ id: (count += 1), text });
}

/** The text with another document in it; unchanged parts keep their formatting. */
export async function writeText(text: string, document: PipelineDocument): Promise<string> {
  return (await ask({ id: (count += 1), text, document })).text;
}

function ask(job: TextJob): Promise<TextResult> {
  worker ??= begin();
  const answer = new Promise<TextResult>((resolve, reject) => { waiting.set(job.id, { resolve, reject }); });
  worker.postMessage(job);
  return answer;
}

function begin(): Worker {
  const begun = new Worker(new URL("./text-worker.ts", import.meta.url), { type: "module" });
  begun.onmessage = ({ data }: MessageEvent<TextResult>) => {
    waiting.get(data.id)?.resolve(data);
    waiting.delete(data.id);
  };
  // All pending requests fail; the next request starts a new worker.
  begun.onerror = (event) => {
    event.preventDefault();
    begun.terminate();
    worker = null;
    for (const { reject } of waiting.values()) reject(new Error(event.message));
    waiting.clear();
  };
  return begun;
}
