//! Layouts are made by a worker: the page goes on meanwhile, and the engine is loaded when it is needed.

import { NODE, edgesOf, type PipelineDocument } from "../graph/document";
import type { Direction, Point } from "../graph/types";
import type { LayoutJob, LayoutResult } from "./layout-worker";

/** Where tasks go, by name: left upper corners. */
export type Places = Record<string, Point>;

/** What may be said about a layout. */
export interface LayoutWish {
  /** Where tasks are: those keep their order. */
  previous?: Readonly<Record<string, Point>> | undefined;
  /** Ends it; the answer is `null` then. */
  signal?: AbortSignal;
}

/** The room of a task in rows, with what lies between. */
const CELL = { width: NODE.width + 64, height: NODE.height + 48 } as const;

/** Places for who does not wait for a layout: rows of tasks, in the order of the document. */
export function inRows(document: PipelineDocument): Places {
  const columns = Math.ceil(Math.sqrt(document.tasks.length));
  return Object.fromEntries(document.tasks.map(({ name }, at): [string, Point] => [name, [(at % columns) * CELL.width, Math.floor(at / columns) * CELL.height]]));
}

let idle: Worker | null = null;

/** Places for all tasks; `null` when it was ended before. */
export function requestLayout(document: PipelineDocument, direction: Direction, { previous, signal }: LayoutWish = {}): Promise<Places | null> {
  const worker = idle ?? new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
  idle = null;
  const job: LayoutJob = {
    boxes: document.tasks.map(({ name }) => ({ id: name, ...NODE })),
    edges: edgesOf(document),
    direction,
    previous: previous && Object.entries(previous),
  };
  return new Promise((resolve, reject) => {
    // A worker that computes hears nothing: only its end stops it.
    const end = () => {
      worker.terminate();
      resolve(null);
    };
    const settle = (how: () => void) => {
      signal?.removeEventListener("abort", end);
      how();
    };
    worker.onmessage = ({ data }: MessageEvent<LayoutResult>) => {
      settle(() => {
        idle?.terminate();
        idle = worker;
        resolve(data.places);
      });
    };
    worker.onerror = (event) => { settle(() => { reject(new Error(event.message)); }); };
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
    worker.postMessage(job);
  });
}
