//! The path of an edge: cubic curves between the borders of two nodes.

import { pointAt, type Curve } from "../graph/line";
import type { Direction } from "../graph/types";
import type { Rect } from "./view";

/** Where an edge leaves a node. */
export function source(node: Rect, direction: Direction): [number, number] {
  return direction === "right" ? [node.x + node.width, node.y + node.height / 2] : [node.x + node.width / 2, node.y + node.height];
}

/** Where an edge arrives at a node. */
export function target(node: Rect, direction: Direction): [number, number] {
  return direction === "right" ? [node.x, node.y + node.height / 2] : [node.x + node.width / 2, node.y];
}

/** The curve between two points, with both ends along the layout direction. */
export function curveOf([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number], direction: Direction): Curve {
  const along = direction === "right" ? x2 - x1 : y2 - y1;
  const reach = along >= 0 ? Math.max(along / 2, Math.min(24, Math.abs(along))) : 6.25 * Math.sqrt(-along);
  return direction === "right" ? [x1, y1, x1 + reach, y1, x2 - reach, y2, x2, y2] : [x1, y1, x1, y1 + reach, x2, y2 - reach, x2, y2];
}

/** A rectangle that contains the whole path. */
export function boundsOf(line: readonly Curve[]): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x1, y1, x2, y2, x3, y3, x4, y4] of line) {
    left = Math.min(left, x1, x2, x3, x4);
    top = Math.min(top, y1, y2, y3, y4);
    right = Math.max(right, x1, x2, x3, x4);
    bottom = Math.max(bottom, y1, y2, y3, y4);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

const PIECES = 24;

/** The distance of a point from a path, approximated by straight segments. */
export function distanceTo(line: readonly Curve[], x: number, y: number): number {
  let nearest = Infinity;
  for (const curve of line) {
    let [fromX, fromY] = [curve[0], curve[1]];
    for (let piece = 1; piece <= PIECES; piece += 1) {
      const [toX, toY] = pointAt(curve, piece / PIECES);
      nearest = Math.min(nearest, toPiece(x, y, fromX, fromY, toX, toY));
      [fromX, fromY] = [toX, toY];
    }
  }
  return nearest;
}

function toPiece(x: number, y: number, x1: number, y1: number, x2: number, y2: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = dx * dx + dy * dy;
  const at = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / length));
  return Math.hypot(x - x1 - at * dx, y - y1 - at * dy);
}
