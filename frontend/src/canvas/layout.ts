//! Layouts are computed in a web worker, which loads the engine on demand and does not block the page.

import { NODE, edgesOf, type PipelineDocument } from "../graph/document";
import type { Direction, Point } from "../graph/types";
import type { LayoutJob, LayoutResult } from "./layout-worker";

/** Positions by task name: top left corners. */
export type Places = Record<string, Point>;

/** Options of a layout. */
export interface LayoutWish {
  /** Current positions of tasks, whose order is kept. */
  previous?: Readonly<Record<string, Point>> | undefined;
  /** Aborts it; the result is `null` then. */
  signal?: AbortSignal;
}

/** The cell size of a task in rows, including gaps. */
const CELL = { width: NODE.width + 64, height: NODE.height + 48 } as const;

/** Positions without computing a layout: rows of tasks, in document order. */
export function inRows(document: PipelineDocument): Places {
  const columns = Math.ceil(Math.sqrt(document.tasks.length));
  return Object.fromEntries(document.tasks.map(({ name }, at): [string, Point] => [name, [(at % columns) * CELL.width, Math.floor(at / columns) * CELL.height]]));
}

let idle: Worker | null = null;

/** Positions for all tasks; `null` if aborted. */
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
    // A busy worker receives no messages: only terminating stops it.
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
