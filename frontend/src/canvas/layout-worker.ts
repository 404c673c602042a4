//! The worker that lays out: graph/layout.ts, away from the page.

import { layOut } from "../graph/layout";
import type { Box, Direction, Edge, Point } from "../graph/types";

/** What is to be laid out. */
export interface LayoutJob {
  boxes: Box[];
  edges: Edge[];
  direction: Direction;
  /** Where tasks were, if that is to be kept in mind. */
  previous: [string, Point][] | undefined;
}

/** Where everything goes: left upper corners, on whole pixels. */
export interface LayoutResult {
  places: Record<string, Point>;
}

addEventListener("message", ({ data }: MessageEvent<LayoutJob>) => {
  const { nodes } = layOut(data.boxes, data.edges, data.direction, { previous: data.previous && new Map(data.previous) });
  const places = Object.fromEntries([...nodes].map(([id, { x, y }]): [string, Point] => [id, [Math.round(x), Math.round(y)]]));
  const result: LayoutResult = { places };
  postMessage(result);
});
