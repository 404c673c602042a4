//! A layout for thousands of nodes, in time that grows with nodes and edges: layers, order, and places that pull
//! neighbours together.

import { layersOf, neighbours, ordered, type Neighbours } from "./layers";
import type { Box, Edge, Placed } from "./types";

/** Places boxes as if edges led right; the caller turns the result. */
export function placeLarge(boxes: readonly Box[], edges: readonly Edge[], gap: { layer: number; node: number }): Map<string, Placed> {
  const ids = boxes.map((box) => box.id);
  const around = neighbours(ids, edges);
  const layer = layersOf(ids, around);
  const rows = ordered(ids, layer, around);
  const box = new Map(boxes.map((box) => [box.id, box]));
  const y = places(rows, box, around, gap.node);
  const placed = new Map<string, Placed>();
  let x = 0;
  rows.forEach((row, index) => {
    const width = Math.max(0, ...row.map((id) => box.get(id)?.width ?? 0));
    for (const id of row) {
      const one = box.get(id);
      if (one) placed.set(id, { ...one, x, y: y.get(id) ?? 0, layer: index });
    }
    x += width + gap.layer;
  });
  return placed;
}

function places(rows: string[][], box: Map<string, Box>, around: Neighbours, gap: number): Map<string, number> {
  const height = (id: string) => box.get(id)?.height ?? 0;
  const y = new Map<string, number>();
  for (const row of rows) {
    let at = 0;
    for (const id of row) {
      y.set(id, at);
      at += height(id) + gap;
    }
  }
  const middle = (ids: string[] | undefined) =>
    ids && ids.length > 0 ? ids.reduce((sum, id) => sum + (y.get(id) ?? 0) + height(id) / 2, 0) / ids.length : undefined;
  for (const [order, side] of [[rows, around.before], [rows.toReversed(), around.after], [rows, around.before]] as const) {
    for (const row of order) {
      const wanted = (id: string) => (middle(side.get(id)) ?? (y.get(id) ?? 0) + height(id) / 2) - height(id) / 2;
      spread(row, row.map(wanted), height, gap, y);
    }
  }
  const top = [...y.values()].reduce((least, at) => Math.min(least, at), Infinity);
  for (const [id, at] of y) y.set(id, at - top);
  return y;
}

// In their order and without overlap, near to the wanted places: the mean of pushing down only and of pushing up only,
// which keeps the distances of both.
function spread(row: string[], wanted: number[], height: (id: string) => number, gap: number, y: Map<string, number>): void {
  const down: number[] = [];
  row.forEach((_, index) => {
    const least = index === 0 ? -Infinity : (down[index - 1] ?? 0) + height(row[index - 1] ?? "") + gap;
    down.push(Math.max(wanted[index] ?? 0, least));
  });
  let limit = Infinity;
  for (let index = row.length - 1; index >= 0; index -= 1) {
    const up = Math.min(wanted[index] ?? 0, limit);
    limit = up - gap - height(row[index - 1] ?? "");
    y.set(row[index] ?? "", (up + (down[index] ?? 0)) / 2);
  }
}
