//! Positions of nodes across the layers: straight long edges, nodes centred on their neighbours (Brandes,
//! Köpf 2002: "Fast and simple horizontal coordinate assignment"; longest paths place the blocks).

import { listOf, type Lists } from "./net";
import type { Proper } from "./proper";

/** Space between nodes: `size[n]` across the layers, and the gap between nodes; bends may be closer. */
export interface Room {
  size: Float64Array;
  gap: number;
}

const BEND_GAP = 12;

/** The centre of each node across the layers. */
export function across(net: Proper, rows: readonly number[][], room: Room): Float64Array {
  const place = new Int32Array(net.count);
  for (const row of rows) row.forEach((node, index) => { place[node] = index; });
  const refused = conflicts(net, rows, place);
  const drawings = ([[false, false], [false, true], [true, false], [true, true]] as const).map(([up, right]) => {
    const turned = (up ? rows.toReversed() : rows).map((row) => (right ? row.toReversed() : row));
    const own = new Int32Array(net.count);
    for (const row of turned) row.forEach((node, index) => { own[node] = index; });
    const root = aligned(turned, up ? net.after : net.before, own, refused);
    const at = compacted(net, turned, root, room);
    if (right) at.forEach((value, node) => { at[node] = -value; });
    return at;
  });
  return balanced(drawings, room);
}

const key = (from: number, to: number) => from * 1_000_003 + to;

// A straight long edge has priority over one between two nodes: where they cross, the latter yields.
function conflicts(net: Proper, rows: readonly number[][], place: Int32Array): Set<number> {
  const refused = new Set<number>();
  const isBend = (node: number) => node >= net.real;
  for (let at = 1; at < rows.length; at += 1) {
    const row = rows[at] ?? [];
    let [left, scanned] = [0, 0];
    row.forEach((node, index) => {
      const inner = isBend(node) ? listOf(net.before, node).find(isBend) : undefined;
      if (inner === undefined && index !== row.length - 1) return;
      const right = inner === undefined ? Infinity : (place[inner] ?? 0);
      for (; scanned <= index; scanned += 1) {
        const other = row[scanned] ?? 0;
        for (const above of listOf(net.before, other)) {
          const where = place[above] ?? 0;
          if ((where < left || where > right) && !(isBend(above) && isBend(other))) refused.add(key(above, other));
        }
      }
      left = right;
    });
  }
  return refused;
}

// Aligns each node with a median neighbour in the previous layer, unless that crosses an aligned pair.
// Returns the first node of each node's block.
function aligned(rows: readonly number[][], side: Lists, place: Int32Array, refused: Set<number>): Int32Array {
  const root = Int32Array.from(place, (_, node) => node);
  const taken = new Uint8Array(place.length);
  for (const row of rows) {
    let last = -1;
    for (const node of row) {
      const around = listOf(side, node).toSorted((a, b) => (place[a] ?? 0) - (place[b] ?? 0));
      const middle = (around.length - 1) / 2;
      for (const index of new Set([Math.floor(middle), Math.ceil(middle)])) {
        const median = around[index];
        if (median === undefined || taken[median] === 1 || refused.has(key(median, node)) || refused.has(key(node, median))) continue;
        if ((place[median] ?? 0) <= last) continue;
        root[node] = root[median] ?? median;
        taken[median] = 1;
        last = place[median] ?? 0;
        break;
      }
    }
  }
  return root;
}

// Moves blocks as far left as their neighbours allow, then as far right as possible without widening.
function compacted(net: Proper, rows: readonly number[][], root: Int32Array, room: Room): Float64Array {
  const apart = (a: number, b: number) => {
    const near = a >= net.real || b >= net.real;
    return ((room.size[a] ?? 0) + (room.size[b] ?? 0)) / 2 + (near ? Math.min(BEND_GAP, room.gap) : room.gap);
  };
  const block = (node: number) => root[node] ?? node;
  const links = new Map<number, { to: number; least: number }[]>();
  const missing = new Int32Array(net.count);
  for (const row of rows) {
    for (let at = 1; at < row.length; at += 1) {
      const [a, b] = [row[at - 1] ?? 0, row[at] ?? 0];
      const own = links.get(block(a));
      const link = { to: block(b), least: apart(a, b) };
      if (own) own.push(link);
      else links.set(block(a), [link]);
      missing[block(b)] = (missing[block(b)] ?? 0) + 1;
    }
  }
  const order: number[] = [];
  for (let node = 0; node < net.count; node += 1) if (block(node) === node && missing[node] === 0) order.push(node);
  const at = new Float64Array(net.count);
  for (let index = 0; index < order.length; index += 1) {
    const one = order[index] ?? 0;
    for (const { to, least } of links.get(one) ?? []) {
      at[to] = Math.max(at[to] ?? 0, (at[one] ?? 0) + least);
      missing[to] = (missing[to] ?? 0) - 1;
      if (missing[to] === 0) order.push(to);
    }
  }
  for (const one of order.toReversed()) {
    const limit = (links.get(one) ?? []).reduce((least, link) => Math.min(least, (at[link.to] ?? 0) - link.least), Infinity);
    if (limit !== Infinity) at[one] = Math.max(at[one] ?? 0, limit);
  }
  return at.map((_, node) => at[block(node)] ?? 0);
}

// Aligns the four drawings with the narrowest; each node gets the mean of its two median positions.
function balanced(drawings: readonly Float64Array[], { size }: Room): Float64Array {
  const spans = drawings.map((at) => {
    let [least, most] = [Infinity, -Infinity];
    at.forEach((value, node) => {
      least = Math.min(least, value - (size[node] ?? 0) / 2);
      most = Math.max(most, value + (size[node] ?? 0) / 2);
    });
    return { least, most };
  });
  const narrowest = spans.reduce((best, span) => (span.most - span.least < best.most - best.least ? span : best));
  const shifts = spans.map((span, index) => (index % 2 === 0 ? narrowest.least - span.least : narrowest.most - span.most));
  const four = new Float64Array(4);
  return (drawings[0] ?? new Float64Array()).map((_, node) => {
    drawings.forEach((at, index) => { four[index] = (at[node] ?? 0) + (shifts[index] ?? 0); });
    four.sort();
    return ((four[1] ?? 0) + (four[2] ?? 0)) / 2;
  });
}
