//! Paints edges, many per stroke.

import type { Curve } from "../../graph/line";
import type { Scene, SceneEdge } from "../scene";
import { touches, type Rect } from "../view";
import type { Drawn } from "./surface";

/** Below this scale a curve looks straight, and a straight line is much faster. */
const STRAIGHT = 0.16;

// A path with too many edges is slower than several paths.
const TOGETHER = 256;

/** The style of edges. `width` is in screen pixels. */
export interface EdgeLook {
  colour: string;
  width: number;
  heads: boolean;
  dash?: readonly number[];
}

/** Paints the visible edges. The unit is a drawing pixel. */
export function paintEdges(to: Drawn, scene: Scene, edges: Iterable<SceneEdge>, seen: Rect, zoom: number, look: EdgeLook): void {
  to.strokeStyle = look.colour;
  to.lineWidth = look.width / zoom;
  to.setLineDash(look.dash?.map((length) => length / zoom) ?? []);
  const shown: SceneEdge[] = [];
  let pending = 0;
  to.beginPath();
  for (const edge of edges) {
    if (!scene.near(edge, seen)) continue;
    const line = scene.line(edge);
    if (!touches(edge.bounds, seen)) continue;
    trace(to, line, zoom < STRAIGHT);
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

function trace(to: Drawn, line: readonly Curve[], straight: boolean): void {
  const [first] = line;
  if (first) to.moveTo(first[0], first[1]);
  for (const piece of line) {
    if (straight) to.lineTo(piece[6], piece[7]);
    else to.bezierCurveTo(piece[2], piece[3], piece[4], piece[5], piece[6], piece[7]);
  }
}

function paintHeads(to: Drawn, scene: Scene, edges: readonly SceneEdge[], colour: string): void {
  const down = scene.direction === "down";
  to.fillStyle = colour;
  to.beginPath();
  for (const edge of edges) {
    const end = scene.line(edge).at(-1);
    if (!end) continue;
    // The arrow head ends at the port.
    const [x, y] = [end[6] - (down ? 0 : 5), end[7] - (down ? 5 : 0)];
    to.moveTo(x, y);
    to.lineTo(down ? x - 4.5 : x - 8, down ? y - 8 : y - 4.5);
    to.lineTo(down ? x + 4.5 : x - 8, down ? y - 8 : y + 4.5);
  }
  to.fill();
}
