//! Counts edge crossings between two layers (Barth, Jünger, Mutzel 2002: "Simple and efficient bilayer cross
//! counting").

import { listOf, type Lists } from "./net";

/**
 * Counts the crossings of the edges from a layer in its order to the next one, which has `width` nodes at
 * `place` 0..width.
 */
export function crossings(row: readonly number[], width: number, after: Lists, place: Float64Array): number {
  let leaves = 1;
  while (leaves < width) leaves *= 2;
  const tree = new Int32Array(2 * leaves);
  let count = 0;
  for (const node of row) {
    const ends = Array.from(listOf(after, node), (end) => place[end] ?? 0).sort((a, b) => a - b);
    for (const end of ends) {
      // Earlier edges that end farther right are crossed.
      for (let at = leaves + end; at > 1; at >>= 1) {
        tree[at] = (tree[at] ?? 0) + 1;
        if (at % 2 === 0) count += tree[at + 1] ?? 0;
      }
    }
  }
  return count;
}
