//! What the nodes have that a task may run on. Pure.

import type { Place } from "../editor/load";

/** The most that one worker can get. Cores, bytes, cards; the names of the cards. */
export interface Room {
  readonly cpu: number;
  readonly memory: number;
  readonly gpus: number;
  readonly types: readonly string[];
}

/** The room of a cluster: the named one, else the only one; null when it is not known. */
export function roomOf(places: readonly Place[], cluster: unknown): Room | null {
  const place = places.find((one) => one.name === cluster) ?? (places.length === 1 ? places[0] : undefined);
  if (!place || place.nodes.length === 0) return null;
  const most = (amount: "cpu" | "memory" | "gpus") => Math.max(...place.nodes.map((node) => node.amount[amount]));
  return { cpu: most("cpu"), memory: most("memory"), gpus: most("gpus"), types: [...new Set(place.nodes.flatMap((node) => node.gpus.map((gpu) => gpu.name)))] };
}
