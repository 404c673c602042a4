//! Edges on a surface, many in one stroke.

import type { Scene, SceneEdge } from "../scene";
import { touches, type Rect } from "../view";
import type { Drawn } from "./surface";

/** Below this scale a curve looks like a straight line, which is drawn much quicker. */
const STRAIGHT = 0.16;

// A path that is too long is slower than several.
const TOGETHER = 256;

/** How edges are drawn. `width` is in pixels of the screen. */
export interface EdgeLook {
  colour: string;
  width: number;
  heads: boolean;
  dash?: readonly number[];
}

/** Draws the edges that can be seen. The surface's unit is a pixel of the drawing. */
export function paintEdges(to: Drawn, scene: Scene, edges: Iterable<SceneEdge>, seen: Rect, zoom: number, look: EdgeLook): void {
  to.strokeStyle = look.colour;
  to.lineWidth = look.width / zoom;
  to.setLineDash(look.dash?.map((length) => length / zoom) ?? []);
  const shown: SceneEdge[] = [];
  let pending = 0;
  to.beginPath();
  for (const edge of edges) {
    const curve = scene.curve(edge);
    if (!touches(edge.bounds, seen)) continue;
    to.moveTo(curve[0], curve[1]);
    if (zoom < STRAIGHT) to.lineTo(curve[6], curve[7]);
    else to.bezierCurveTo(curve[2], curve[3], curve[4], curve[5], curve[6], curve[7]);
    if (look.heads) shown.push(edge);
    pending += 1;
    if (pending < TOGETHER) continue;
    to.stroke();
    to.beginPath();
    pending = 0;
  }
  to.stroke();
  to.setLineDash([]);
  if (look.heads) paintHeads(to, scene, shown, look.colour);
}

function paintHeads(to: Drawn, scene: Scene, edges: readonly SceneEdge[], colour: string): void {
  const down = scene.direction === "down";
  to.fillStyle = colour;
  to.beginPath();
  for (const edge of edges) {
    const curve = scene.curve(edge);
    // The head ends where the port begins.
    const [x, y] = [curve[6] - (down ? 0 : 5), curve[7] - (down ? 5 : 0)];
    to.moveTo(x, y);
    to.lineTo(down ? x - 4.5 : x - 8, down ? y - 8 : y - 4.5);
    to.lineTo(down ? x + 4.5 : x - 8, down ? y - 8 : y + 4.5);
  }
  to.fill();
}
