//! Arrow key navigation in a graph: along the edges, and to neighbours in the same layer.

import type { Layout, Placed } from "./types";

export type Step = "forward" | "back" | "previous" | "next";

/** The step of an arrow key, in the layout's direction. */
export function stepOf(key: string, layout: Layout): Step | undefined {
  const right: Record<string, Step> = { ArrowRight: "forward", ArrowLeft: "back", ArrowUp: "previous", ArrowDown: "next" };
  const down: Record<string, Step> = { ArrowDown: "forward", ArrowUp: "back", ArrowLeft: "previous", ArrowRight: "next" };
  return (layout.direction === "right" ? right : down)[key];
}

/** The target of a step from a node; the node itself if there is none. */
export function walk(layout: Layout, from: string, step: Step): string {
  const here = layout.nodes.get(from);
  if (!here) return from;
  const across = (node: Placed) => (layout.direction === "right" ? node.y + node.height / 2 : node.x + node.width / 2);
  const near = (ids: string[]) => {
    const nodes = ids.map((id) => layout.nodes.get(id)).filter((node) => node !== undefined);
    nodes.sort((a, b) => Math.abs(across(a) - across(here)) - Math.abs(across(b) - across(here)));
    return nodes[0]?.id ?? from;
  };
  if (step === "forward") return near(layout.edges.filter((edge) => edge.from === from).map((edge) => edge.to));
  if (step === "back") return near(layout.edges.filter((edge) => edge.to === from).map((edge) => edge.from));
  const beside = [...layout.nodes.values()].filter(
    (node) => node.layer === here.layer && (step === "next" ? across(node) > across(here) : across(node) < across(here)),
  );
  return near(beside.map((node) => node.id));
}
