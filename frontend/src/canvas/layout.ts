//! Layouts are made by a worker: the page goes on meanwhile, and the engine is loaded when it is needed.

import { NODE, edgesOf, type PipelineDocument } from "../graph/document";
import type { Direction, Point } from "../graph/types";
import type { LayoutJob, LayoutResult } from "./layout-worker";

let worker: Worker | null = null;
let count = 0;

/** Places for all tasks, by name. A later request makes an earlier one's answer come too, but nobody needs it. */
export function requestLayout(document: PipelineDocument, direction: Direction): Promise<Record<string, Point>> {
  worker ??= new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
  const engine = worker;
  count += 1;
  const job: LayoutJob = {
    number: count,
    boxes: document.tasks.map(({ name }) => ({ id: name, ...NODE })),
    edges: edgesOf(document),
    direction,
  };
  return new Promise((resolve) => {
    const listen = ({ data }: MessageEvent<LayoutResult>) => {
      if (data.number !== job.number) return;
      engine.removeEventListener("message", listen);
      resolve(data.places);
    };
    engine.addEventListener("message", listen);
    engine.postMessage(job);
  });
}
