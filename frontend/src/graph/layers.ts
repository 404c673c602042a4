//! Layers and their order: the part of a layered drawing (Sugiyama, Tagawa, Toda 1981) that both layouts need.

import type { Edge } from "./types";

/** Who comes before and after each node. Edges to nodes that are not there, and loops, are left out. */
export interface Neighbours {
  before: Map<string, string[]>;
  after: Map<string, string[]>;
}

/** Neighbours of every id. */
export function neighbours(ids: readonly string[], edges: readonly Edge[]): Neighbours {
  const before = new Map<string, string[]>(ids.map((id) => [id, []]));
  const after = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { from, to } of edges) {
    if (from === to || !before.has(from) || !before.has(to)) continue;
    after.get(from)?.push(to);
    before.get(to)?.push(from);
  }
  return { before, after };
}

/** The layer of each id: one more than its farthest predecessor's. What lies on a cycle comes into the last layer reached. */
export function layersOf(ids: readonly string[], { before, after }: Neighbours): Map<string, number> {
  const layer = new Map<string, number>(ids.map((id) => [id, 0]));
  const missing = new Map<string, number>(ids.map((id) => [id, before.get(id)?.length ?? 0]));
  const ready = ids.filter((id) => missing.get(id) === 0);
  for (let at = 0; at < ready.length; at += 1) {
    const id = ready[at] ?? "";
    for (const next of after.get(id) ?? []) {
      layer.set(next, Math.max(layer.get(next) ?? 0, (layer.get(id) ?? 0) + 1));
      const left = (missing.get(next) ?? 0) - 1;
      missing.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  return layer;
}

const SWEEPS = 6;

/** The ids of each layer, in an order with few crossings: each at the mean place of its neighbours, to and fro. */
export function ordered(ids: readonly string[], layer: Map<string, number>, around: Neighbours): string[][] {
  const layers: string[][] = [];
  for (const id of ids) (layers[layer.get(id) ?? 0] ??= []).push(id);
  const place = new Map<string, number>();
  const number = (row: string[]) => { row.forEach((id, index) => place.set(id, index / Math.max(1, row.length))); };
  layers.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (const row of forward ? layers : layers.toReversed()) {
      const wanted = new Map(row.map((id) => [id, mean((forward ? around.before : around.after).get(id), place) ?? place.get(id) ?? 0]));
      row.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
      number(row);
    }
  }
  return layers;
}

function mean(ids: readonly string[] | undefined, place: Map<string, number>): number | undefined {
  if (!ids || ids.length === 0) return undefined;
  return ids.reduce((sum, id) => sum + (place.get(id) ?? 0), 0) / ids.length;
}
