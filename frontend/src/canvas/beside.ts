//! Finds a free position for a new node, after its dependencies.

import { NODE } from "../graph/document";
import type { Direction } from "../graph/types";
import { onGrid } from "./snap";
import { GRID } from "./size";
import { around, type Rect } from "./view";

/** Existing nodes. */
interface Placed {
  readonly nodes: ReadonlyMap<string, Rect>;
  readonly grid: { within(rect: Rect): ReadonlySet<unknown> };
}

const GAP = { along: 64, across: 24 };

/** A position after the named nodes, or beside all nodes if there are none. */
export function placeBeside(placed: Placed, names: readonly string[], direction: Direction): { x: number; y: number } {
  const needs = names.map((name) => placed.nodes.get(name)).filter((node) => node !== undefined);
  const from = around(needs) ?? around(placed.nodes.values());
  if (!from) return { x: 0, y: 0 };
  const at =
    direction === "right"
      ? { x: from.x + from.width + GAP.along, y: from.y + from.height / 2 - NODE.height / 2 }
      : { x: from.x + from.width / 2 - NODE.width / 2, y: from.y + from.height + GAP.along };
  return free(placed, at.x, at.y, direction);
}

/** The nearest free position, searched across the edge direction. */
export function free(placed: Placed, x: number, y: number, direction: Direction): { x: number; y: number } {
  const step = direction === "right" ? NODE.height + GAP.across : NODE.width + GAP.across;
  for (let number = 0; ; number += 1) {
    const shift = (number % 2 === 0 ? -1 : 1) * Math.ceil(number / 2) * step;
    const at = direction === "right" ? { x: onGrid(x), y: onGrid(y + shift) } : { x: onGrid(x + shift), y: onGrid(y) };
    const room = { x: at.x - GRID, y: at.y - GRID, width: NODE.width + 2 * GRID, height: NODE.height + 2 * GRID };
    if (placed.grid.within(room).size === 0) return at;
  }
}
