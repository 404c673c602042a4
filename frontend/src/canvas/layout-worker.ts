//! The web worker that runs graph/layout.ts, off the main thread.

import { layOut } from "../graph/layout";
import type { Box, Direction, Edge, Point } from "../graph/types";

/** The layout request. */
export interface LayoutJob {
  boxes: Box[];
  edges: Edge[];
  direction: Direction;
  /** Previous positions, if the layout should respect them. */
  previous: [string, Point][] | undefined;
}

/** The positions: top left corners, on whole pixels. */
export interface LayoutResult {
  places: Record<string, Point>;
}

addEventListener("message", ({ data }: MessageEvent<LayoutJob>) => {
  const { nodes } = layOut(data.boxes, data.edges, data.direction, { previous: data.previous && new Map(data.previous) });
  const places = Object.fromEntries([...nodes].map(([id, { x, y }]): [string, Point] => [id, [Math.round(x), Math.round(y)]]));
  const result: LayoutResult = { places };
  postMessage(result);
});
