//! Lays out one component of a graph: layers, order, positions.

import type { Edge } from "../types";
import { across } from "./across";
import { layersOf } from "./layers";
import { netOf } from "./net";
import { ordered } from "./order";
import { proper } from "./proper";

/** A box: its size along and across the edges, and its previous position across, if known. */
export interface Given {
  id: string;
  along: number;
  across: number;
  before?: number | undefined;
}

/** The corner and layer of each box, in input order, and the bends of the edges by `from>to`. */
export interface Drawing {
  places: { along: number; across: number; layer: number }[];
  bends: Map<string, { along: number; across: number }[]>;
  layers: number;
  size: { along: number; across: number };
}

/** The gaps between layers and between nodes, in pixels. */
export interface Gaps {
  layer: number;
  node: number;
}

/** Draws a component. With previous positions, known nodes keep their order. */
export function draw(boxes: readonly Given[], edges: readonly Edge[], gaps: Gaps): Drawing {
  const net = netOf(boxes.map(({ id }) => id), edges);
  const full = proper(net, layersOf(net));
  const known = boxes.some(({ before }) => before !== undefined) ? Float64Array.from(boxes, ({ before }) => before ?? NaN) : undefined;
  const rows = ordered(full, known);
  const size = new Float64Array(full.count);
  boxes.forEach((box, node) => { size[node] = box.across; });
  const middle = across(full, rows, { size, gap: gaps.node });
  const edge = middle.reduce((least, at, node) => Math.min(least, at - (size[node] ?? 0) / 2), Infinity);
  const columns = columnsOf(rows, boxes, gaps.layer);
  const corner = (node: number) => ({ along: columns.at[full.layer[node] ?? 0] ?? 0, across: (middle[node] ?? 0) - (size[node] ?? 0) / 2 - edge });
  const places = boxes.map((_, node) => ({ ...corner(node), layer: full.layer[node] ?? 0 }));
  const bends = new Map<string, { along: number; across: number }[]>();
  full.bends.forEach((own, index) => {
    const [from, to] = [boxes[net.from[index] ?? 0]?.id ?? "", boxes[net.to[index] ?? 0]?.id ?? ""];
    const points = own.flatMap((bend) => {
      const { along, across } = corner(bend);
      return [{ along, across }, { along: along + (columns.width[full.layer[bend] ?? 0] ?? 0), across }];
    });
    if (points.length > 0) bends.set(`${from}>${to}`, points);
  });
  const deepest = middle.reduce((most, at, node) => Math.max(most, at + (size[node] ?? 0) / 2), -Infinity) - edge;
  return { places, bends, layers: rows.length, size: { along: columns.end, across: deepest } };
}

function columnsOf(rows: readonly number[][], boxes: readonly Given[], gap: number): { at: number[]; width: number[]; end: number } {
  const width = rows.map((row) => row.reduce((most, node) => Math.max(most, boxes[node]?.along ?? 0), 0));
  const at: number[] = [];
  let end = 0;
  for (const own of width) {
    at.push(end);
    end += own + gap;
  }
  return { at, width, end: end - gap };
}
