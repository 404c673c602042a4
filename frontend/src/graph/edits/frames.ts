//! Frames: tasks with a border and a title around them. A frame has no position of its own: its tasks
//! determine it.

import { NODE, positionOf, type Frame, type PipelineDocument } from "../document";
import { withCanvas } from "./base";

/** A rectangle, in pixels. */
export interface Bounds {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The space between a frame's border and its tasks; its title is in the top one. */
export const FRAME_ROOM = { side: 24, top: 48, bottom: 24 } as const;

/** Creates a frame around tasks, which leave their previous frames. Also returns its id. */
export function makeFrame(document: PipelineDocument, tasks: readonly string[], title: string): { document: PipelineDocument; id: string } {
  const id = freeId("f", document.canvas?.frames);
  const taken = removeFromFrame(document, tasks);
  return { document: withFrames(taken, { ...taken.canvas?.frames, [id]: { title, tasks: [...new Set(tasks)] } }), id };
}

/** Sets a frame's title. */
export function renameFrame(document: PipelineDocument, id: string, title: string): PipelineDocument {
  return changeFrame(document, id, (frame) => (frame.title === title ? frame : { ...frame, title }));
}

/** Adds tasks to a frame; they leave their previous frames. */
export function addToFrame(document: PipelineDocument, id: string, tasks: readonly string[]): PipelineDocument {
  const frame = document.canvas?.frames?.[id];
  if (!frame) return document;
  const fresh = tasks.filter((task) => !frame.tasks.includes(task));
  if (fresh.length === 0) return document;
  return changeFrame(removeFromFrame(document, fresh), id, (one) => ({ ...one, tasks: [...one.tasks, ...fresh] }));
}

/** Removes tasks from their frames; a frame without tasks is removed. */
export function removeFromFrame(document: PipelineDocument, tasks: Iterable<string>): PipelineDocument {
  const frames = document.canvas?.frames;
  const leaving = new Set(tasks);
  if (!frames || !Object.values(frames).some((frame) => frame.tasks.some((task) => leaving.has(task)))) return document;
  const left = Object.entries(frames).map(([id, frame]): [string, Frame] => {
    const stay = frame.tasks.filter((task) => !leaving.has(task));
    return [id, stay.length === frame.tasks.length ? frame : { ...frame, tasks: stay }];
  });
  return withFrames(document, Object.fromEntries(left.filter(([id, frame]) => frame.tasks.length > 0 || frame === frames[id])));
}

/** Removes a frame; its tasks stay. */
export function dissolveFrame(document: PipelineDocument, id: string): PipelineDocument {
  const { [id]: gone, ...left } = document.canvas?.frames ?? {};
  return gone ? withFrames(document, left) : document;
}

/** The frame that a task is in. */
export function frameOf(document: PipelineDocument, task: string): string | undefined {
  return Object.entries(document.canvas?.frames ?? {}).find(([, frame]) => frame.tasks.includes(task))?.[0];
}

/**
 * The bounds of a frame: around its tasks with positions, by default the document's; `undefined` if none has
 * one.
 */
export function frameBounds(
  document: PipelineDocument,
  id: string,
  placeOf: (task: string) => readonly [number, number] | undefined = (task) => positionOf(document, task),
): Bounds | undefined {
  const places = (document.canvas?.frames?.[id]?.tasks ?? []).map(placeOf).filter((at) => at !== undefined);
  if (places.length === 0) return undefined;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of places) {
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x + NODE.width), Math.max(bottom, y + NODE.height)];
  }
  const { side, top: above, bottom: below } = FRAME_ROOM;
  return { x: left - side, y: top - above, width: right - left + 2 * side, height: bottom - top + above + below };
}

/** A free id in a mapping: `f1`, `f2`, ... */
export function freeId(letter: string, taken: Readonly<Record<string, unknown>> = {}): string {
  for (let number = 1; ; number += 1) if (!Object.hasOwn(taken, `${letter}${number}`)) return `${letter}${number}`;
}

function changeFrame(document: PipelineDocument, id: string, change: (frame: Frame) => Frame): PipelineDocument {
  const frame = document.canvas?.frames?.[id];
  const next = frame && change(frame);
  return !next || next === frame ? document : withFrames(document, { ...document.canvas.frames, [id]: next });
}

function withFrames(document: PipelineDocument, frames: Readonly<Record<string, Frame>>): PipelineDocument {
  return withCanvas(document, { frames });
}
