//! Keyboard navigation: between tasks along the edges, else to the nearest in that direction; or through all
//! items, including frames and notes, in reading order.

import { itemOf, type ItemId } from "../graph/document";
import type { Direction } from "../graph/types";
import type { Scene, SceneNode } from "./scene";
import type { Rect } from "./view";

/** An arrow key. */
export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** A step along the edges, or an arrow to the nearest item in that direction. */
export type Step = "forward" | "back" | Arrow;

/** The meaning of an arrow key if edges have that direction. */
export function stepOf(arrow: Arrow, direction: Direction): Step {
  const [back, forward] = direction === "right" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  if (arrow === forward) return "forward";
  return arrow === back ? "back" : arrow;
}

/** The task that a step leads to, from a task along its edges; null if there is none. */
export function walk(scene: Scene, from: ItemId, step: Step): string | null {
  const place = scene.placeOf(from);
  if (!place) return null;
  if (step !== "forward" && step !== "back") return nearest(scene, place, step)?.name ?? null;
  return (linked(scene, from, step) ?? nearest(scene, place, arrowOf(step, scene.direction)))?.name ?? null;
}

/** The next or previous item in reading order: along the edge direction, then across. Null after the end. */
export function next(scene: Scene, from: ItemId | null, by: 1 | -1): ItemId | null {
  const order = inOrder(scene, [
    ...scene.frames.filter(({ width }) => width > 0).map((frame): Stop => [`frame:${frame.id}`, frame]),
    ...[...scene.nodes.values()].map((node): Stop => [`task:${node.name}`, node]),
    ...scene.notes.map((note): Stop => [`note:${note.id}`, note]),
  ]);
  return beside(order, from, by);
}

/** The next or previous task in that order. Null after the end. */
export function nextTask(scene: Scene, from: string | null, by: 1 | -1): string | null {
  return beside(inOrder(scene, [...scene.nodes.values()].map((node) => [node.name, node])), from, by);
}

type Stop<Id = ItemId> = readonly [Id, Rect];

function inOrder<Id>({ direction }: Scene, stops: Stop<Id>[]): Id[] {
  const [along, across] = direction === "right" ? (["x", "y"] as const) : (["y", "x"] as const);
  return stops.sort(([, a], [, b]) => a[along] - b[along] || a[across] - b[across]).map(([id]) => id);
}

function beside<Id>(order: readonly Id[], from: Id | null, by: 1 | -1): Id | null {
  if (from === null) return order.at(by === 1 ? 0 : -1) ?? null;
  return order[order.indexOf(from) + by] ?? null;
}

function arrowOf(step: "forward" | "back", direction: Direction): Arrow {
  if (direction === "right") return step === "forward" ? "ArrowRight" : "ArrowLeft";
  return step === "forward" ? "ArrowDown" : "ArrowUp";
}

function linked(scene: Scene, from: ItemId, step: "forward" | "back"): SceneNode | null {
  const { kind, name } = itemOf(from);
  const here = kind === "task" ? scene.nodes.get(name) : undefined;
  const nodes = step === "forward" ? here?.after.map((edge) => edge.to) : here?.before.map((edge) => edge.from);
  if (!here || !nodes || nodes.length === 0) return null;
  return nodes.reduce((best, node) => (apart(here, node) < apart(here, best) ? node : best));
}

// Items more in that direction than to the side; the sideways distance counts double.
function nearest(scene: Scene, here: Rect, arrow: Arrow): SceneNode | null {
  const upright = arrow === "ArrowUp" || arrow === "ArrowDown";
  const sign = arrow === "ArrowRight" || arrow === "ArrowDown" ? 1 : -1;
  let [best, found]: [number, SceneNode | null] = [Infinity, null];
  for (const node of scene.nodes.values()) {
    const [dx, dy] = [node.x - here.x, node.y - here.y];
    const ahead = sign * (upright ? dy : dx);
    const aside = Math.abs(upright ? dx : dy);
    if (node === here || ahead <= 0 || aside > 3 * ahead) continue;
    const distance = ahead + 2 * aside;
    if (distance < best) [best, found] = [distance, node];
  }
  return found;
}

function apart(a: SceneNode, b: SceneNode): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
}
