//! The path of an edge through points: it leaves, passes and arrives in the layout direction.

import type { Direction, Point, Routed } from "./types";

/** One cubic curve: start, two control points, end; x and y alternate. */
export type Curve = readonly [number, number, number, number, number, number, number, number];

/** A curve between each two consecutive points. */
export function through(points: readonly Point[], direction: Direction): Curve[] {
  return points.slice(1).map(([toX, toY], index): Curve => {
    const [x, y] = points[index] ?? [toX, toY];
    const [middleX, middleY] = [(x + toX) / 2, (y + toY) / 2];
    return direction === "right" ? [x, y, middleX, y, middleX, toY, toX, toY] : [x, y, x, middleY, toX, middleY, toX, toY];
  });
}

/** A point of a curve: 0 is its start, 1 its end. */
export function pointAt([x1, y1, x2, y2, x3, y3, x4, y4]: Curve, at: number): [number, number] {
  const rest = 1 - at;
  const [a, b, c, d] = [rest * rest * rest, 3 * rest * rest * at, 3 * rest * at * at, at * at * at];
  return [a * x1 + b * x2 + c * x3 + d * x4, a * y1 + b * y2 + c * y3 + d * y4];
}

/** An SVG path through an edge's points. */
export function curve({ points }: Routed, direction: Direction): string {
  const [first] = points;
  if (!first) return "";
  const pieces = through(points, direction).map(([, , ...rest]) => `C${rest.map(round).join(" ")}`);
  return `M${round(first[0])} ${round(first[1])}${pieces.join("")}`;
}

/** The arrow head at the end of an edge. */
export function head({ points }: Routed, direction: Direction): string {
  const end = points.at(-1);
  if (!end) return "";
  const [x, y] = [round(end[0]), round(end[1])];
  return direction === "right" ? `M${x} ${y}l-7 -4v8z` : `M${x} ${y}l-4 -7h8z`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
