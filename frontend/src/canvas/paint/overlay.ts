//! Paints the feedback of a gesture above everything: the new edge, alignment lines, the selection box, the
//! drop position.

import { NODE } from "../../graph/document";
import type { Direction } from "../../graph/types";
import { curveOf } from "../curve";
import type { Line } from "../snap";
import type { Rect } from "../view";
import type { Colours } from "./colours";
import type { Drawn } from "./surface";

/** The feedback of a gesture, in drawing pixels. */
export interface Overlay {
  /** An edge whose second end follows the pointer. */
  wire?: { from: readonly [number, number]; to: readonly [number, number]; allowed: boolean };
  lines?: readonly Line[];
  box?: Rect;
  /** The position of a new node. */
  ghost?: { x: number; y: number };
}

export function isEmpty({ wire, lines, box, ghost }: Overlay): boolean {
  return !wire && !box && !ghost && (lines?.length ?? 0) === 0;
}

/** Paints it. The unit is a drawing pixel. */
export function paintOverlay(to: Drawn, overlay: Overlay, direction: Direction, zoom: number, colours: Colours): void {
  if (overlay.lines) paintLines(to, overlay.lines, zoom, colours);
  if (overlay.box) paintBox(to, overlay.box, zoom, colours);
  if (overlay.wire) paintWire(to, overlay.wire, direction, zoom, colours);
  if (overlay.ghost) paintGhost(to, overlay.ghost, zoom, colours);
}

function paintLines(to: Drawn, lines: readonly Line[], zoom: number, colours: Colours): void {
  to.beginPath();
  for (const { axis, at, from, to: end } of lines) {
    to.moveTo(axis === "x" ? at : from, axis === "x" ? from : at);
    to.lineTo(axis === "x" ? at : end, axis === "x" ? end : at);
  }
  to.lineWidth = 1 / zoom;
  to.strokeStyle = colours["series-4"];
  to.stroke();
}

function paintBox(to: Drawn, { x, y, width, height }: Rect, zoom: number, colours: Colours): void {
  to.globalAlpha = 0.1;
  to.fillStyle = colours["accent-text"];
  to.fillRect(x, y, width, height);
  to.globalAlpha = 1;
  to.lineWidth = 1 / zoom;
  to.strokeStyle = colours["accent-text"];
  to.strokeRect(x, y, width, height);
}

function paintWire(to: Drawn, wire: NonNullable<Overlay["wire"]>, direction: Direction, zoom: number, colours: Colours): void {
  const curve = curveOf(wire.from, wire.to, direction);
  to.beginPath();
  to.moveTo(curve[0], curve[1]);
  to.bezierCurveTo(curve[2], curve[3], curve[4], curve[5], curve[6], curve[7]);
  to.lineWidth = 2 / zoom;
  to.strokeStyle = colours[wire.allowed ? "accent-text" : "danger-text"];
  to.setLineDash(wire.allowed ? [] : [6 / zoom, 4 / zoom]);
  to.stroke();
  to.setLineDash([]);
}

function paintGhost(to: Drawn, { x, y }: { x: number; y: number }, zoom: number, colours: Colours): void {
  to.beginPath();
  to.roundRect(x, y, NODE.width, NODE.height, 8);
  to.globalAlpha = 0.12;
  to.fillStyle = colours["accent-text"];
  to.fill();
  to.globalAlpha = 1;
  to.lineWidth = 1.5 / zoom;
  to.strokeStyle = colours["accent-text"];
  to.setLineDash([6 / zoom, 4 / zoom]);
  to.stroke();
  to.setLineDash([]);
}
