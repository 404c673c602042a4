//! Nodes that only some of the cards are free of: whoever wants a whole node cannot have them. Pure.

import type { Card, Holder, Node } from "./data";

/** Such a node. */
export interface Fragmented {
  node: string;
  /** How many of its cards are free. */
  free: number;
  /** How many it has. */
  all: number;
  /** The tasks that hold the others, as far as they may be told, each once. */
  holders: Holder[];
  /** How many others hold some, at the least. */
  others: number;
}

type Known = Pick<Node, "name"> & { cards: readonly Pick<Card, "state" | "holders" | "others">[] };

/** All such nodes, those with the most free cards first: to empty one of them sets free the most for the least. */
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
