//! The worker that lays out: graph/layout.ts, away from the page.

import { layOut } from "../graph/layout";
import type { Box, Direction, Edge, Point } from "../graph/types";

/** What is to be laid out. */
export interface LayoutJob {
  number: number;
  boxes: Box[];
  edges: Edge[];
  direction: Direction;
}

/** Where everything goes: left upper corners, on whole pixels. */
export interface LayoutResult {
  number: number;
  places: Record<string, Point>;
}

addEventListener("message", ({ data }: MessageEvent<LayoutJob>) => {
  const { nodes } = layOut(data.boxes, data.edges, data.direction);
  const places = Object.fromEntries([...nodes].map(([id, { x, y }]): [string, Point] => [id, [Math.round(x), Math.round(y)]]));
  const result: LayoutResult = { number: data.number, places };
  postMessage(result);
});
