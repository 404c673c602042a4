//! Hit testing at a point of the drawing.

import type { ItemId } from "../graph/document";
import { distanceTo, source, target } from "./curve";
import type { Scene, SceneEdge, SceneNode } from "./scene";
import { TITLE } from "./size";

/** A hit. A `port` is where edges leave (`out`) or arrive (`in`) at a node. */
export type Hit =
  | { kind: "port"; node: SceneNode; side: "in" | "out" }
  | { kind: "task"; id: ItemId; node: SceneNode }
  | { kind: "note"; id: ItemId; corner: boolean }
  | { kind: "frame"; id: ItemId }
  | { kind: "edge"; id: ItemId; edge: SceneEdge };

/** Hit tolerance, in screen pixels. Fingers are less exact. */
export const REACH = { mouse: { port: 11, edge: 6 }, touch: { port: 22, edge: 14 } } as const;

const CORNER = 16;

/** The topmost item at a point; `null` if there is none. Ports exist only with detail `near`. */
export function hit(scene: Scene, x: number, y: number, zoom: number, ports: boolean, reach: { port: number; edge: number }): Hit | null {
  if (ports) {
    const port = portAt(scene, x, y, reach.port / zoom);
    if (port) return port;
  }
  const node = scene.grid.at(x, y);
  if (node) return { kind: "task", id: `task:${node.name}`, node };
  const note = scene.notes.findLast((note) => x >= note.x && y >= note.y && x <= note.x + note.width && y <= note.y + note.height);
  if (note) {
    const corner = x > note.x + note.width - CORNER && y > note.y + note.height - CORNER;
    return { kind: "note", id: `note:${note.id}`, corner };
  }
  const edge = edgeAt(scene, x, y, reach.edge / zoom);
  if (edge) return { kind: "edge", id: edge.id, edge };
  const frame = scene.frames.findLast((frame) => x >= frame.x && y >= frame.y && x <= frame.x + frame.width && y <= frame.y + TITLE);
  return frame ? { kind: "frame", id: `frame:${frame.id}` } : null;
}

/** The nearest edge to a point, within a distance. */
export function edgeAt(scene: Scene, x: number, y: number, reach: number): SceneEdge | null {
  let [best, found]: [number, SceneEdge | null] = [reach, null];
  for (const edge of scene.edges) {
    if (!scene.near(edge, { x: x - reach, y: y - reach, width: 2 * reach, height: 2 * reach })) continue;
    const line = scene.line(edge);
    const { bounds } = edge;
    if (x < bounds.x - reach || y < bounds.y - reach || x > bounds.x + bounds.width + reach || y > bounds.y + bounds.height + reach) continue;
    const distance = distanceTo(line, x, y);
    if (distance < best) [best, found] = [distance, edge];
  }
  return found;
}

function portAt(scene: Scene, x: number, y: number, reach: number): Hit | null {
  const near = scene.grid.within({ x: x - reach, y: y - reach, width: 2 * reach, height: 2 * reach });
  for (const node of near) {
    for (const side of ["out", "in"] as const) {
      const [atX, atY] = (side === "out" ? source : target)(node, scene.direction);
      if (Math.hypot(atX - x, atY - y) <= reach) return { kind: "port", node, side };
    }
  }
  return null;
}
