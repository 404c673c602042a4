//! Lays out connected components separately and packs them: otherwise a hundred small ones would form a
//! tower.

import type { Net } from "./net";

/** The nodes of each component, in the order of their first node. */
export function partsOf(net: Net): number[][] {
  const leader = Int32Array.from({ length: net.count }, (_, node) => node);
  const find = (node: number): number => {
    let at = node;
    while (leader[at] !== at) {
      leader[at] = leader[leader[at] ?? 0] ?? 0;
      at = leader[at] ?? 0;
    }
    return at;
  };
  net.from.forEach((from, index) => {
    const [a, b] = [find(from), find(net.to[index] ?? 0)];
    leader[Math.max(a, b)] = Math.min(a, b);
  });
  const parts = new Map<number, number[]>();
  for (let node = 0; node < net.count; node += 1) {
    const part = parts.get(find(node));
    if (part) part.push(node);
    else parts.set(find(node), [node]);
  }
  return [...parts.values()];
}

/** A rectangle to pack: `along` and `across` the edges. */
export interface Size {
  along: number;
  across: number;
}

/** A packed rectangle's corner; `column` is its index in its row. */
export interface Packed {
  along: number;
  across: number;
  column: number;
}

/** Slightly wider than high, like screens. */
const ASPECT = 1.6;

/** Packs rectangles in rows, in order. */
export function packed(sizes: readonly Size[], gap: number): Packed[] {
  const area = sizes.reduce((sum, { along, across }) => sum + (along + gap) * (across + gap), 0);
  const room = Math.max(Math.sqrt(area * ASPECT), ...sizes.map(({ along }) => along));
  let [along, across, deep, column] = [0, 0, 0, 0];
  return sizes.map((size) => {
    if (along > 0 && along + size.along > room + 1) [along, across, deep, column] = [0, across + deep + gap, 0, 0];
    const corner = { along, across, column };
    along += size.along + gap;
    column += 1;
    deep = Math.max(deep, size.across);
    return corner;
  });
}
