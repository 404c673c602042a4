//! The order of nodes in each layer, for few crossings (Sugiyama, Tagawa, Toda 1981: barycentres, back and
//! forth; then swaps of neighbours).

import { crossings } from "./crossings";
import { listOf, type Lists } from "./net";
import type { Proper } from "./proper";

const SWEEPS = 12;
/** Stops after this many sweeps without an improvement. */
const PATIENCE = 3;

/**
 * The nodes of each layer, in order. `known[n]` is a node's previous position across the layers (NaN if it is
 * new): known nodes keep their order, and only new ones and bends are placed.
 */
export function ordered(net: Proper, known?: Float64Array): number[][] {
  const rows: number[][] = [];
  for (let node = 0; node < net.count; node += 1) (rows[net.layer[node] ?? 0] ??= []).push(node);
  const place = new Float64Array(net.count);
  if (known) return keeping(net, rows, place, known);
  begin(net, rows, place);
  return sweep(net, rows, place);
}

// The initial order from a depth-first search, which draws a tree without crossings.
function begin(net: Proper, rows: number[][], place: Float64Array): void {
  const seen = new Uint8Array(net.count);
  let next = 0;
  for (const row of rows) {
    for (const root of row) {
      const open = [root];
      for (let node = open.pop(); node !== undefined; node = open.pop()) {
        if (seen[node] === 1) continue;
        seen[node] = 1;
        place[node] = next++;
        for (const after of listOf(net.after, node).toReversed()) if (seen[after] === 0) open.push(after);
      }
    }
  }
  for (const row of rows) sortBy(row, place);
}

function sweep(net: Proper, rows: number[][], place: Float64Array): number[][] {
  rows.forEach((row) => { number(row, place); });
  let best = rows.map((row) => row.slice());
  let least = total(net, rows, place);
  for (let turn = 0, idle = 0; turn < SWEEPS && idle < PATIENCE && least > 0; turn += 1) {
    const forward = turn % 2 === 0;
    for (const row of forward ? rows : rows.toReversed()) {
      barycentres(row, forward ? net.before : net.after, place);
      number(row, place);
    }
    exchange(net, rows, place);
    const now = total(net, rows, place);
    idle = now < least ? 0 : idle + 1;
    if (now < least) [least, best] = [now, rows.map((row) => row.slice())];
  }
  return best;
}

// Known nodes keep their relative order; the others move to the mean of their neighbours.
function keeping(net: Proper, rows: number[][], place: Float64Array, known: Float64Array): number[][] {
  const isKnown = (node: number) => node < net.real && !Number.isNaN(known[node] ?? NaN);
  for (let node = 0; node < net.count; node += 1) place[node] = isKnown(node) ? (known[node] ?? 0) : NaN;
  for (const [order, side] of [[rows, net.before], [rows.toReversed(), net.after]] as const) {
    for (const row of order) {
      for (const node of row) if (Number.isNaN(place[node])) place[node] = mean(listOf(side, node), place);
    }
  }
  const last = known.reduce((most, at) => (at > most ? at : most), 0) + 1;
  for (const row of rows) {
    for (const node of row) if (Number.isNaN(place[node])) place[node] = last;
    sortBy(row, place);
  }
  return rows;
}

function barycentres(row: number[], side: Lists, place: Float64Array): void {
  const wanted = new Map(row.map((node) => [node, mean(listOf(side, node), place)]));
  // Nodes without neighbours on this side stay; the others are sorted around them.
  const moving = row.filter((node) => !Number.isNaN(wanted.get(node)));
  moving.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0) || (place[a] ?? 0) - (place[b] ?? 0));
  let next = 0;
  row.forEach((node, index) => {
    if (!Number.isNaN(wanted.get(node))) row[index] = moving[next++] ?? node;
  });
}

function mean(nodes: Int32Array, place: Float64Array): number {
  let [sum, count] = [0, 0];
  for (const node of nodes) {
    const at = place[node] ?? NaN;
    if (!Number.isNaN(at)) [sum, count] = [sum + at, count + 1];
  }
  return count > 0 ? sum / count : NaN;
}

// Swaps neighbours where that removes crossings.
function exchange(net: Proper, rows: number[][], place: Float64Array): void {
  for (const row of rows) {
    for (let at = 0; at + 1 < row.length; at += 1) {
      const [a, b] = [row[at] ?? 0, row[at + 1] ?? 0];
      const gain = between(net.before, a, b, place) + between(net.after, a, b, place);
      if (gain <= 0) continue;
      row[at] = b;
      row[at + 1] = a;
      [place[a], place[b]] = [place[b] ?? 0, place[a] ?? 0];
    }
  }
}

/** Crossings of the edges of `a` (left) with those of `b` (right), minus those after a swap. */
function between(side: Lists, a: number, b: number, place: Float64Array): number {
  const [first, second] = [listOf(side, a), listOf(side, b)];
  if (first.length * second.length > 400) return 0;
  let gain = 0;
  for (const one of first) {
    for (const other of second) gain += Math.sign((place[one] ?? 0) - (place[other] ?? 0));
  }
  return gain;
}

function total(net: Proper, rows: number[][], place: Float64Array): number {
  let sum = 0;
  for (let at = 0; at + 1 < rows.length; at += 1) sum += crossings(rows[at] ?? [], rows[at + 1]?.length ?? 0, net.after, place);
  return sum;
}

function number(row: number[], place: Float64Array): void {
  row.forEach((node, index) => { place[node] = index; });
}

function sortBy(row: number[], place: Float64Array): void {
  row.sort((a, b) => (place[a] ?? 0) - (place[b] ?? 0));
}
