//! Edges that span several layers get a bend in each, so that they have a position between the nodes.

import { net, type Net } from "./net";

/** A net with edges between adjacent layers only. Numbers from `real` on are bends. */
export interface Proper extends Net {
  real: number;
  layer: Int32Array;
  /** The bends of each input edge, in layer order. */
  bends: number[][];
}

/** Above this many bends, the longest edges get none: with so many edges only the nodes are readable. */
const MOST_BENDS = 40_000;

/** Inserts bends into the long edges of a net. */
export function proper(given: Net, layer: Int32Array): Proper {
  const spans = Array.from(given.from, (from, index) => (layer[given.to[index] ?? 0] ?? 0) - (layer[from] ?? 0));
  const longest = longestBent(spans);
  const layers = Array.from(layer);
  const pairs: [number, number][] = [];
  const bends = spans.map((span, index) => {
    const [from, to] = [given.from[index] ?? 0, given.to[index] ?? 0];
    if (span > longest) return [];
    const own = Array.from({ length: span - 1 }, (_, step) => layers.push((layer[from] ?? 0) + step + 1) - 1);
    [from, ...own].forEach((end, at) => pairs.push([end, own[at] ?? to]));
    return own;
  });
  return { ...net(layers.length, pairs), real: given.count, layer: Int32Array.from(layers), bends };
}

function longestBent(spans: number[]): number {
  let bends = 0;
  for (const span of spans.toSorted((a, b) => a - b)) {
    bends += span - 1;
    if (bends > MOST_BENDS) return span - 1;
  }
  return Infinity;
}
