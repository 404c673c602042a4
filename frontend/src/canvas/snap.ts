//! Snaps a dragged box to alignment with its neighbours, else to the grid.

import { GRID } from "./size";
import type { Rect } from "./view";

/** An alignment line: at `at`, from `from` to `to`. `x` means vertical, at that x. */
export interface Line {
  axis: "x" | "y";
  at: number;
  from: number;
  to: number;
}

/** A position, and its alignment lines. */
export interface Snapped {
  x: number;
  y: number;
  lines: Line[];
}

/** The snap distance, in drawing pixels at scale 1. */
const PULL = 5;

/**
 * The position of a box dragged to (x, y): edges and centres align with one of the others, per axis, else
 * with the grid. `zoom` keeps the snap distance constant on the screen.
 */
export function snap(box: Rect, others: Iterable<Rect>, zoom: number): Snapped {
  const pull = PULL / Math.min(1, zoom);
  let [bestX, bestY] = [pull, pull];
  let [atX, atY]: [number | null, number | null] = [null, null];
  const near = [...others];
  for (const other of near) {
    const x = nearest(box.x, box.width, other.x, other.width);
    if (Math.abs(x) < bestX) [bestX, atX] = [Math.abs(x), box.x + x];
    const y = nearest(box.y, box.height, other.y, other.height);
    if (Math.abs(y) < bestY) [bestY, atY] = [Math.abs(y), box.y + y];
  }
  const placed = { ...box, x: atX ?? onGrid(box.x), y: atY ?? onGrid(box.y) };
  const lines = [
    ...(atX === null ? [] : linesOf("x", placed, near)),
    ...(atY === null ? [] : linesOf("y", placed, near)),
  ];
  return { x: placed.x, y: placed.y, lines };
}

/** The nearest multiple of the grid. */
export function onGrid(value: number): number {
  return Math.round(value / GRID) * GRID;
}

// The smallest move that aligns start, centre or end with the other's.
function nearest(at: number, length: number, other: number, otherLength: number): number {
  const moves = [other - at, other + otherLength / 2 - at - length / 2, other + otherLength - at - length];
  return moves.reduce((best, move) => (Math.abs(move) < Math.abs(best) ? move : best));
}

function linesOf(axis: "x" | "y", box: Rect, others: readonly Rect[]): Line[] {
  const lines = new Map<number, Line>();
  const own = stops(axis, box);
  for (const other of others) {
    const theirs = stops(axis, other);
    own.forEach((stop, index) => {
      if (Math.abs(stop - (theirs[index] ?? NaN)) > 0.01) return;
      const [from, to] = span(axis, box, other);
      const line = lines.get(stop);
      lines.set(stop, { axis, at: stop, from: Math.min(from, line?.from ?? from), to: Math.max(to, line?.to ?? to) });
    });
  }
  return [...lines.values()];
}

function stops(axis: "x" | "y", { x, y, width, height }: Rect): number[] {
  return axis === "x" ? [x, x + width / 2, x + width] : [y, y + height / 2, y + height];
}

function span(axis: "x" | "y", a: Rect, b: Rect): [number, number] {
  if (axis === "x") return [Math.min(a.y, b.y), Math.max(a.y + a.height, b.y + b.height)];
  return [Math.min(a.x, b.x), Math.max(a.x + a.width, b.x + b.width)];
}
