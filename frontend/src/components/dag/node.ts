//! Renders one node as SVG.

import { s } from "../../core/dom";
import { stateIcon } from "../../core/state";
import { stateWord } from "../../core/texts";
import type { Placed } from "../../graph/types";
import { clip } from "./clip";

export interface DagNode {
  id: string;
  label: string;
  /** A second line: the template, the time, the number of workers. */
  sub?: string | undefined;
  /** The state's name in the API; without it the node has no icon. */
  state?: string | undefined;
  /** The fraction that is done, 0 to 1, for a task of many instances. */
  progress?: number | undefined;
  /** Marks the node, with this word for it. */
  mark?: string | undefined;
}

/** The size of every node, in pixels. */
export const NODE = { width: 188, height: 50 };

const SIGN = 16;
/** The ribbon of a marked node, in its upper right corner. */
const RIBBON = `M${NODE.width - 24} 0h12v16l-6 -5l-6 5z`;

/** Renders a node at its layout position. */
export function drawNode(node: DagNode, at: Placed): SVGGElement {
  const group = s("g", { class: "dag-node", "data-id": node.id, role: "button", tabindex: -1, transform: `translate(${at.x} ${at.y})` });
  group.append(s("rect", { class: "dag-box", width: at.width, height: at.height, rx: 8 }));
  fillNode(group, node);
  return group;
}

/** Updates a rendered node, replacing only the content of its box. */
export function fillNode(group: SVGGElement, node: DagNode): void {
  const left = node.state ? 36 : 14;
  const room = NODE.width - left - (node.mark === undefined ? 12 : 28);
  const label = s("text", { class: "dag-label", x: left, y: node.sub ? 21 : 30 }, clip(node.label, room, 13));
  // The title is also the accessible name: it contains what is truncated in the image.
  const word = node.state ? stateWord(node.state) : "";
  const parts: SVGElement[] = [s("title", {}, [node.label, word, node.sub, node.mark].filter(Boolean).join(", ")), label];
  if (node.sub) parts.push(s("text", { class: "dag-sub", x: left, y: 38 }, clip(node.sub, room, 11.5)));
  if (node.state) parts.push(sign(node.state));
  if (node.progress !== undefined) parts.push(...bar(node.progress));
  if (node.mark !== undefined) parts.push(s("path", { class: "dag-mark", d: RIBBON }));
  group.classList.toggle("marked", node.mark !== undefined);
  group.replaceChildren(group.children[0] ?? "", ...parts);
  if (node.state) group.dataset["state"] = node.state;
}

// The outer group positions, the inner one may rotate.
function sign(state: string): SVGElement {
  const use = s("use", { href: `#i-${stateIcon(state)}`, width: SIGN, height: SIGN });
  const place = `translate(12 ${(NODE.height - SIGN) / 2})`;
  return s("g", { class: "dag-sign", transform: place }, s("g", { class: "icon" }, use));
}

function bar(progress: number): SVGElement[] {
  const width = NODE.width - 24;
  const y = NODE.height - 6;
  const done = Math.min(1, Math.max(0, progress)) * width;
  return [
    s("rect", { class: "dag-bar", x: 12, y, width, height: 2, rx: 1 }),
    s("rect", { class: "dag-bar-done", x: 12, y, width: done, height: 2, rx: 1 }),
  ];
}
