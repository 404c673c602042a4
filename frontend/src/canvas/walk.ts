//! Walking from task to task: along the edges, else to the nearest that way; or through all in the order of reading.

import type { Direction } from "../graph/types";
import type { Scene, SceneNode } from "./scene";

/** An arrow key. */
export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** A step along the edges, or an arrow for what is nearest that way. */
export type Step = "forward" | "back" | Arrow;

/** What an arrow means where edges lead that way. */
export function stepOf(arrow: Arrow, direction: Direction): Step {
  const [back, forward] = direction === "right" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  if (arrow === forward) return "forward";
  return arrow === back ? "back" : arrow;
}

/** Where a step leads; null when there is nothing that way. */
export function walk(scene: Scene, from: string, step: Step): string | null {
  const here = scene.nodes.get(from);
  if (!here) return null;
  if (step !== "forward" && step !== "back") return nearest(scene, here, step)?.name ?? null;
  const linked = step === "forward" ? here.after.map((edge) => edge.to) : here.before.map((edge) => edge.from);
  if (linked.length > 0) return linked.reduce((best, node) => (apart(here, node) < apart(here, best) ? node : best)).name;
  const right = scene.direction === "right";
  return nearest(scene, here, step === "forward" ? (right ? "ArrowRight" : "ArrowDown") : right ? "ArrowLeft" : "ArrowUp")?.name ?? null;
}

/** The next or the last task in the order of reading: along the direction of the edges, then across. Null after the end. */
export function next(scene: Scene, from: string | null, by: 1 | -1): string | null {
  const along = (node: SceneNode) => (scene.direction === "right" ? node.x : node.y);
  const across = (node: SceneNode) => (scene.direction === "right" ? node.y : node.x);
  const order = [...scene.nodes.values()].sort((a, b) => along(a) - along(b) || across(a) - across(b));
  if (from === null) return (by === 1 ? order[0] : order.at(-1))?.name ?? null;
  const at = order.findIndex(({ name }) => name === from);
  return order[at + by]?.name ?? null;
}

// What lies more that way than to the side; what is to the side counts double.
function nearest(scene: Scene, here: SceneNode, arrow: Arrow): SceneNode | null {
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
