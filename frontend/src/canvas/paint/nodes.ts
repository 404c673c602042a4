//! Paints nodes: coloured boxes, with their names while these are readable.

import type { SceneFrame, SceneNode, SceneNote } from "../scene";
import type { Rect } from "../view";
import { touches } from "../view";
import type { Colours, ColourName } from "./colours";
import type { Drawn } from "./surface";

/** The style of a distant node. */
export interface NodeLook {
  /** The colour of its state, of its difference, or of its template's group. */
  colour: ColourName;
  /** Whether the whole box is coloured, because it has a state or a difference. */
  full: boolean;
  problem: "error" | "warning" | null;
  faint: boolean;
}

/** The minimum scale at which names are painted. */
const NAMES = 0.2;
const RADIUS = 8;

/** Paints boxes. The unit is a drawing pixel. */
export function paintNodes(to: Drawn, nodes: readonly SceneNode[], look: (node: SceneNode) => NodeLook, zoom: number, colours: Colours): void {
  const byColour = new Map<string, SceneNode[]>();
  const signed: [SceneNode, ColourName][] = [];
  for (const node of nodes) {
    const { colour, full, problem, faint } = look(node);
    const key = `${faint ? "-" : ""}${full ? "+" : ""}${colour}`;
    const same = byColour.get(key);
    if (same) same.push(node);
    else byColour.set(key, [node]);
    if (problem) signed.push([node, problem === "error" ? "danger-text" : "warning-text"]);
  }
  for (const [key, same] of byColour) {
    to.globalAlpha = key.startsWith("-") ? 0.3 : 1;
    const full = key.includes("+");
    const colour = colours[key.replace(/^-?\+?/, "") as ColourName];
    if (zoom < NAMES) plain(to, same, colour, full, colours);
    else boxes(to, same, colour, full, zoom, colours);
  }
  to.globalAlpha = 1;
  if (zoom >= NAMES) names(to, nodes, zoom, colours);
  for (const [node, colour] of signed) sign(to, node, colours[colour], zoom, colours.surface);
}

function plain(to: Drawn, nodes: readonly SceneNode[], colour: string, full: boolean, colours: Colours): void {
  to.fillStyle = full ? colour : colours["border-strong"];
  for (const { x, y, width, height } of nodes) to.fillRect(x, y, width, height);
  if (full) return;
  to.fillStyle = colour;
  for (const { x, y, height } of nodes) to.fillRect(x, y, 36, height);
}

function boxes(to: Drawn, nodes: readonly SceneNode[], colour: string, full: boolean, zoom: number, colours: Colours): void {
  to.beginPath();
  for (const { x, y, width, height } of nodes) to.roundRect(x, y, width, height, RADIUS);
  to.fillStyle = colours.raised;
  to.fill();
  if (full) {
    const before = to.globalAlpha;
    to.globalAlpha = before * 0.18;
    to.fillStyle = colour;
    to.fill();
    to.globalAlpha = before;
  }
  to.lineWidth = 1 / zoom;
  to.strokeStyle = full ? colour : colours["border-strong"];
  to.stroke();
  to.beginPath();
  for (const { x, y, height } of nodes) to.roundRect(x, y, 12, height, [RADIUS, 0, 0, RADIUS]);
  to.fillStyle = colour;
  to.fill();
}

function names(to: Drawn, nodes: readonly SceneNode[], zoom: number, colours: Colours): void {
  // As large as fits in the box, and at most the normal size.
  const size = Math.min(30, 11 / zoom);
  to.font = `500 ${size}px ${colours.font}`;
  to.textBaseline = "middle";
  to.fillStyle = colours.text;
  for (const { name, x, y, width, height } of nodes) to.fillText(clipped(name, (width - 36) / (size * 0.56)), x + 24, y + height / 2);
}

function clipped(text: string, letters: number): string {
  return text.length <= letters ? text : `${text.slice(0, Math.max(1, Math.floor(letters) - 1))}…`;
}

function sign(to: Drawn, { x, y, width }: Rect, colour: string, zoom: number, ground: string): void {
  const radius = Math.min(30, 5 / zoom);
  to.beginPath();
  to.arc(x + width, y, radius, 0, 2 * Math.PI);
  to.fillStyle = colour;
  to.fill();
  to.lineWidth = 1.5 / zoom;
  to.strokeStyle = ground;
  to.stroke();
}

/** Paints outlines of boxes. */
export function outlines(to: Drawn, boxes: readonly Rect[], colour: string, width: number): void {
  if (boxes.length === 0) return;
  to.beginPath();
  for (const box of boxes) to.roundRect(box.x - width, box.y - width, box.width + 2 * width, box.height + 2 * width, RADIUS);
  to.lineWidth = width;
  to.strokeStyle = colour;
  to.stroke();
}

/** Paints the visible frames and notes. */
export function paintGround(to: Drawn, frames: readonly SceneFrame[], notes: readonly SceneNote[], seen: Rect, zoom: number, colours: Colours): void {
  to.lineWidth = 1 / zoom;
  to.textBaseline = "top";
  for (const { frame, x, y, width, height } of frames.filter((one) => one.width > 0 && touches(one, seen))) {
    to.beginPath();
    to.roundRect(x, y, width, height, 12);
    to.globalAlpha = 0.06;
    to.fillStyle = colours["accent-text"];
    to.fill();
    to.globalAlpha = 1;
    to.strokeStyle = colours["control-border"];
    to.stroke();
    to.font = `600 ${Math.min(64, 12 / zoom)}px ${colours.font}`;
    to.fillStyle = colours["text-muted"];
    to.fillText(clipped(frame.title, (width * zoom) / 7), x, y - Math.min(64, 12 / zoom) * 1.3);
  }
  for (const note of notes.filter((one) => touches(one, seen))) {
    to.globalAlpha = 0.3;
    to.fillStyle = colours["warning-text"];
    to.fillRect(note.x, note.y, note.width, note.height);
    to.globalAlpha = 1;
  }
}
