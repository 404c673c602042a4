//! The graph for layout computations: numbers instead of names, one direction for all edges.

import type { Edge } from "../types";

/** A graph over 0..count. Edge i leads from `from[i]` to `to[i]`; pairs are unique, and there is no cycle. */
export interface Net {
  count: number;
  from: Int32Array;
  to: Int32Array;
  /** Incoming and outgoing edges of each node. */
  before: Lists;
  after: Lists;
}

/**
 * Lists of numbers for 0..count, in one array: those of n are `items[start[n]]` up to `items[start[n + 1]]`.
 */
export interface Lists {
  start: Int32Array;
  items: Int32Array;
}

/** The numbers of one list. */
export function listOf({ start, items }: Lists, of: number): Int32Array {
  return items.subarray(start[of], start[of + 1]);
}

/** Groups `values[i]` by `keys[i]` for 0..count, in input order. */
export function lists(count: number, keys: Int32Array, values: Int32Array): Lists {
  const start = new Int32Array(count + 1);
  for (const key of keys) start[key + 1] = (start[key + 1] ?? 0) + 1;
  for (let at = 0; at < count; at += 1) start[at + 1] = (start[at + 1] ?? 0) + (start[at] ?? 0);
  const next = start.slice();
  const items = new Int32Array(keys.length);
  keys.forEach((key, index) => {
    const at = next[key] ?? 0;
    items[at] = values[index] ?? 0;
    next[key] = at + 1;
  });
  return { start, items };
}

/**
 * Builds a net. Loops, duplicates and edges to missing nodes are ignored; an edge that closes a cycle is
 * reversed.
 */
export function netOf(ids: readonly string[], edges: readonly Edge[]): Net {
  const number = new Map(ids.map((id, index) => [id, index]));
  const seen = new Set<number>();
  const pairs: [number, number][] = [];
  for (const edge of edges) {
    const [from, to] = [number.get(edge.from), number.get(edge.to)];
    if (from === undefined || to === undefined || from === to || seen.has(from * ids.length + to)) continue;
    seen.add(from * ids.length + to);
    pairs.push([from, to]);
  }
  return turned(net(ids.length, pairs));
}

/** A net of numbered edges without cycles. */
export function net(count: number, pairs: readonly (readonly [number, number])[]): Net {
  const from = Int32Array.from(pairs, (pair) => pair[0]);
  const to = Int32Array.from(pairs, (pair) => pair[1]);
  return { count, from, to, before: lists(count, to, from), after: lists(count, from, to) };
}

// A depth-first search finds the back edges (as Eiglsperger and others call them).
function turned(given: Net): Net {
  const NEW = 0, OPEN = 1, DONE = 2;
  const state = new Uint8Array(given.count);
  const next = given.after.start.slice();
  const back = new Set<number>();
  for (let root = 0; root < given.count; root += 1) {
    if (state[root] !== NEW) continue;
    const path = [root];
    state[root] = OPEN;
    while (path.length > 0) {
      const node = path.at(-1) ?? 0;
      const at = next[node] ?? 0;
      if (at === given.after.start[node + 1]) {
        state[node] = DONE;
        path.pop();
        continue;
      }
      next[node] = at + 1;
      const child = given.after.items[at] ?? 0;
      if (state[child] === OPEN) back.add(node * given.count + child);
      else if (state[child] === NEW) {
        state[child] = OPEN;
        path.push(child);
      }
    }
  }
  if (back.size === 0) return given;
  const pairs = [...given.from].map((from, index): [number, number] => {
    const to = given.to[index] ?? 0;
    return back.has(from * given.count + to) ? [to, from] : [from, to];
  });
  return net(given.count, pairs);
}
