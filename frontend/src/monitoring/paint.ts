//! Paints the visible part of the grid: a block per node, a square per GPU. A GPU's state is shown by its
//! shape, too, not by its colour alone.

import type { Colours } from "../canvas/paint/colours";
import type { Card, Levels, Node } from "./data";
import { bar, block, CELL, cell, seen } from "./layout";
import type { Layout, Spot } from "./layout";

/** The measure that determines the colours. */
export type Measure = "usage" | "memory" | "temperature" | "power";

export interface Scene {
  nodes: readonly Node[];
  grid: Layout;
  measure: Measure;
  /** The highlighted state; empty for all. */
  only: string;
  chosen: Spot | null;
  /** Whether the grid has the focus. */
  focused: boolean;
}

/** A GPU at this temperature in degrees Celsius is shown as full; one at 20 as empty. */
const HOT = 90;
const COLD = 20;
/** The default power limit of a GPU in watts, if unknown. */
const USUAL_LIMIT = 700;

/** The filled fraction of a square, from 0 to 1; null if unknown. */
export function share(card: Card, measure: Measure): number | null {
  const ratio = (part: number | null | undefined, all: number | null | undefined) => (part == null || !all ? null : part / all);
  const found = {
    usage: () => card.usage ?? null,
    memory: () => ratio(card.memory_used, card.memory_total),
    temperature: () => (card.temperature == null ? null : (card.temperature - COLD) / (HOT - COLD)),
    power: () => ratio(card.power, card.power_limit ?? USUAL_LIMIT),
  }[measure]();
  return found === null ? null : Math.min(1, Math.max(0, found));
}

/** Paints the part from `top` to `bottom`. */
export function paint(context: CanvasRenderingContext2D, colours: Colours, scene: Scene, top: number, bottom: number): void {
  context.textBaseline = "top";
  const [first, last] = seen(scene.grid, scene.nodes.length, top, bottom);
  for (let at = first; at < last; at++) {
    const node = scene.nodes[at];
    if (node) paintNode(context, colours, scene, node, at);
  }
}

function paintNode(context: CanvasRenderingContext2D, colours: Colours, scene: Scene, node: Node, at: number): void {
  const { x, y, width } = block(scene.grid, at);
  context.fillStyle = colours["text-muted"];
  context.fillText(clipped(context, node.name, width), x, y + 2);
  for (const [which, levels] of [[0, node.cpu], [1, node.memory]] as const) {
    const place = bar(scene.grid, at, which);
    context.fillStyle = colours.border;
    context.fillRect(place.x, place.y, place.width, place.height);
    context.fillStyle = colours[which === 0 ? "series-3" : "series-2"];
    context.fillRect(place.x, place.y, place.width * filled(levels), place.height);
  }
  node.cards.forEach((card, index) => {
    const spot = { node: at, card: index };
    context.globalAlpha = scene.only === "" || scene.only === card.state ? 1 : 0.15;
    paintCard(context, colours, card, cell(scene.grid, spot), share(card, scene.measure));
    context.globalAlpha = 1;
    if (scene.chosen?.node === at && scene.chosen.card === index) ring(context, colours, cell(scene.grid, spot), scene.focused);
  });
}

function filled({ used, capacity }: Levels): number {
  return used == null || !capacity ? 0 : Math.min(1, used / capacity);
}

function paintCard(context: CanvasRenderingContext2D, colours: Colours, card: Card, { x, y }: { x: number; y: number }, full: number | null): void {
  context.fillStyle = colours.border;
  context.fillRect(x, y, CELL, CELL);
  if (full !== null) {
    const alpha = context.globalAlpha;
    context.globalAlpha = alpha * full;
    context.fillStyle = colours["series-1"];
    context.fillRect(x, y, CELL, CELL);
    context.globalAlpha = alpha;
  }
  mark(context, colours, card.state, x, y);
}

/**
 * Idle GPUs have a thick frame, unhealthy ones a cross, missing ones a dashed frame, fragments a dot in a
 * dashed one.
 */
function mark(context: CanvasRenderingContext2D, colours: Colours, state: string, x: number, y: number): void {
  const frame = (colour: string, width: number, dash: number[] = []) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.strokeRect(x + width / 2, y + width / 2, CELL - width, CELL - width);
    context.setLineDash([]);
  };
  if (state === "idle") frame(colours["warning-text"], 3);
  else if (state === "away") frame(colours["danger-text"], 1.5, [3, 2]);
  else if (state === "fragment") {
    frame(colours["warning-text"], 1.5, [2, 2]);
    context.fillStyle = colours["warning-text"];
    context.fillRect(x + CELL / 2 - 3, y + CELL / 2 - 3, 6, 6);
  } else if (state === "faulty") {
    frame(colours["danger-text"], 2);
    context.beginPath();
    context.moveTo(x + 4, y + 4);
    context.lineTo(x + CELL - 4, y + CELL - 4);
    context.moveTo(x + CELL - 4, y + 4);
    context.lineTo(x + 4, y + CELL - 4);
    context.stroke();
  }
}

function ring(context: CanvasRenderingContext2D, colours: Colours, { x, y }: { x: number; y: number }, focused: boolean): void {
  context.strokeStyle = focused ? colours.text : colours["text-muted"];
  context.lineWidth = 2;
  context.strokeRect(x - 1, y - 1, CELL + 2, CELL + 2);
}

/** A long name is truncated at its beginning: nodes differ at the end. */
export function clipped(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let from = 1;
  while (from < text.length && context.measureText(`…${text.slice(from)}`).width > width) from++;
  return `…${text.slice(from)}`;
}
