//! Positions of GPUs in the grid, and hit testing. Pure.

/** In pixels. */
export const CELL = 16;
const GAP = 2;
const ROW = 8;
const LABEL = 18;
const BARS = 10;
const BETWEEN = 12;
const BLOCK = ROW * (CELL + GAP) - GAP;

/** The size of a node. */
export interface Sized {
  cards: readonly unknown[];
}

/** A GPU: the index of its node, and its index in the node. */
export interface Spot {
  node: number;
  card: number;
}

/** The grid: all blocks have the size of the largest, so that positions can be computed. */
export interface Layout {
  columns: number;
  rows: number;
  /** A block including its gap, in pixels. */
  wide: number;
  high: number;
  /** The total height, in pixels. */
  height: number;
}

/** The grid of these nodes in this width in pixels. */
export function layout(nodes: readonly Sized[], width: number): Layout {
  const most = Math.max(1, ...nodes.map((node) => Math.ceil(node.cards.length / ROW)));
  const wide = BLOCK + BETWEEN;
  const high = LABEL + BARS + most * (CELL + GAP) + BETWEEN;
  const columns = Math.max(1, Math.floor((width + BETWEEN) / wide));
  const rows = Math.ceil(nodes.length / columns);
  return { columns, rows, wide, high, height: Math.max(0, rows * high - BETWEEN) };
}

/** The top left corner of a node's block. */
export function block(of: Layout, node: number): { x: number; y: number; width: number } {
  return { x: (node % of.columns) * of.wide, y: Math.floor(node / of.columns) * of.high, width: BLOCK };
}

/** The position of a node's bars: the first for CPU, the second for memory. */
export function bar(of: Layout, node: number, which: 0 | 1): { x: number; y: number; width: number; height: number } {
  const { x, y, width } = block(of, node);
  return { x, y: y + LABEL + which * 4, width, height: 3 };
}

/** The top left corner of a GPU. */
export function cell(of: Layout, { node, card }: Spot): { x: number; y: number } {
  const { x, y } = block(of, node);
  return { x: x + (card % ROW) * (CELL + GAP), y: y + LABEL + BARS + Math.floor(card / ROW) * (CELL + GAP) };
}

/** The GPU at a point, if there is one. */
export function at(of: Layout, nodes: readonly Sized[], x: number, y: number): Spot | null {
  const [column, row] = [Math.floor(x / of.wide), Math.floor(y / of.high)];
  const node = row * of.columns + column;
  if (x < 0 || y < 0 || column >= of.columns || node >= nodes.length) return null;
  const top = y - row * of.high - LABEL - BARS;
  const across = Math.floor((x - column * of.wide) / (CELL + GAP));
  const card = Math.floor(top / (CELL + GAP)) * ROW + across;
  return top >= 0 && across < ROW && card < (nodes[node]?.cards.length ?? 0) ? { node, card } : null;
}

/** The first and the last visible node in a vertical range. */
export function seen(of: Layout, count: number, from: number, to: number): [number, number] {
  const first = Math.max(0, Math.floor(from / of.high)) * of.columns;
  const last = Math.ceil(to / of.high) * of.columns;
  return [Math.min(first, count), Math.min(last, count)];
}

/** The GPU that a key leads to; nodes without GPUs are skipped. */
export function step(of: Layout, nodes: readonly Sized[], from: Spot | null, key: string): Spot | null {
  const has = (node: number) => (nodes[node]?.cards.length ?? 0) > 0;
  const next = (start: number, by: number): number | null => {
    for (let node = start; node >= 0 && node < nodes.length; node += by) if (has(node)) return node;
    return null;
  };
  const last = (node: number) => (nodes[node]?.cards.length ?? 0) - 1;
  if (!from || key === "Home") {
    const node = next(0, 1);
    return node === null ? null : { node, card: 0 };
  }
  if (key === "End") {
    const node = next(nodes.length - 1, -1);
    return node === null ? from : { node, card: last(node) };
  }
  if (key === "ArrowRight" || key === "ArrowLeft") {
    const by = key === "ArrowRight" ? 1 : -1;
    const card = from.card + by;
    if (card >= 0 && card <= last(from.node)) return { node: from.node, card };
    const node = next(from.node + by, by);
    return node === null ? from : { node, card: by > 0 ? 0 : last(node) };
  }
  const by = key === "ArrowDown" ? 1 : -1;
  const inside = from.card + by * ROW;
  if (inside >= 0 && inside <= last(from.node)) return { node: from.node, card: inside };
  const node = next(from.node + by * of.columns, by * of.columns);
  return node === null ? from : { node, card: Math.min(from.card % ROW, last(node)) };
}
