//! Nodes with only some GPUs free, which jobs that need a whole node cannot use. Pure.

import type { Card, Holder, Node } from "./data";

export interface Fragmented {
  node: string;
  /** The number of its free GPUs. */
  free: number;
  /** The total number of its GPUs. */
  all: number;
  /** The tasks that use the others, as far as visible, each once. */
  holders: Holder[];
  /** The minimum number of other tasks that use some. */
  others: number;
}

type Known = Pick<Node, "name"> & { cards: readonly Pick<Card, "state" | "holders" | "others">[] };

/**
 * All such nodes, those with the most free GPUs first: emptying one of these frees the most for the least.
 */
export function fragmented(nodes: readonly Known[]): Fragmented[] {
  const found = nodes.flatMap(({ name, cards }): Fragmented[] => {
    const free = cards.filter(({ state }) => state === "fragment").length;
    if (free === 0) return [];
    const named = cards.flatMap((card) => card.holders ?? []);
    const holders = [...new Map(named.map((holder) => [`${holder.run} ${holder.task}`, holder])).values()];
    return [{ node: name, free, all: cards.length, holders, others: Math.max(0, ...cards.map(({ others }) => others)) }];
  });
  return found.sort((a, b) => b.free - a.free);
}
