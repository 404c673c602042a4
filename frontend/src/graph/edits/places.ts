//! Positions of nodes and notes: moving, aligning, distributing.

import { itemOf, NODE, positionOf, type ItemId, type PipelineDocument } from "../document";
import type { Point } from "../types";
import { place } from "./base";
import { changeNote } from "./notes";

/** The line to align with. */
export type Alignment = "left" | "centre" | "right" | "top" | "middle" | "bottom";

interface Thing {
  id: ItemId;
  at: Point;
  size: Point;
}

/**
 * Moves tasks, notes and all tasks of frames by this many pixels, each once. Items without a position stay
 * without.
 */
export function move(document: PipelineDocument, ids: Iterable<ItemId>, [byX, byY]: Point): PipelineDocument {
  if (byX === 0 && byY === 0) return document;
  return put(document, thingsOf(document, ids).map(({ id, at: [x, y] }) => [id, [x + byX, y + byY]]));
}

/** Aligns the selected items: with the outermost border, or with the centre of all. */
export function align(document: PipelineDocument, ids: Iterable<ItemId>, to: Alignment): PipelineDocument {
  const things = thingsOf(document, ids);
  if (things.length < 2) return document;
  const axis = to === "left" || to === "centre" || to === "right" ? 0 : 1;
  const starts = things.map(({ at }) => at[axis]);
  const ends = things.map(({ at, size }) => at[axis] + size[axis]);
  const [first, last] = [Math.min(...starts), Math.max(...ends)];
  const start = (size: number) => {
    if (to === "left" || to === "top") return first;
    return to === "right" || to === "bottom" ? last - size : Math.round((first + last - size) / 2);
  };
  return put(document, things.map(({ id, at, size }) => [id, along(at, axis, start(size[axis]))]));
}

/** Makes the gaps between the selected items equal; the outermost two stay. */
export function distribute(document: PipelineDocument, ids: Iterable<ItemId>, direction: "horizontal" | "vertical"): PipelineDocument {
  const axis = direction === "horizontal" ? 0 : 1;
  const things = thingsOf(document, ids).sort((a, b) => a.at[axis] - b.at[axis]);
  const [first, last] = [things[0], things.at(-1)];
  if (!first || !last || things.length < 3) return document;
  const taken = things.reduce((sum, { size }) => sum + size[axis], 0);
  const gap = (last.at[axis] + last.size[axis] - first.at[axis] - taken) / (things.length - 1);
  let next = first.at[axis];
  return put(document, things.map(({ id, at, size }) => {
    const start = next;
    next += size[axis] + gap;
    return [id, along(at, axis, Math.round(start))];
  }));
}

function along(at: Point, axis: 0 | 1, value: number): Point {
  return axis === 0 ? [value, at[1]] : [at[0], value];
}

/** The selected items with positions; a frame represents its tasks. */
function thingsOf(document: PipelineDocument, ids: Iterable<ItemId>): Thing[] {
  const things = new Map<ItemId, Thing>();
  const task = (name: string) => {
    const at = positionOf(document, name);
    if (at) things.set(`task:${name}`, { id: `task:${name}`, at, size: [NODE.width, NODE.height] });
  };
  for (const id of ids) {
    const { kind, name } = itemOf(id);
    if (kind === "task") task(name);
    if (kind === "frame") document.canvas?.frames?.[name]?.tasks.forEach(task);
    const note = kind === "note" ? document.canvas?.notes?.[name] : undefined;
    if (note) things.set(id, { id, at: note.at, size: note.size });
  }
  return [...things.values()];
}

function put(document: PipelineDocument, places: readonly (readonly [ItemId, Point])[]): PipelineDocument {
  const tasks: Record<string, Point> = {};
  let changed = document;
  for (const [id, at] of places) {
    const { kind, name } = itemOf(id);
    if (kind === "note") changed = changeNote(changed, name, { at });
    else tasks[name] = at;
  }
  return place(changed, tasks);
}
