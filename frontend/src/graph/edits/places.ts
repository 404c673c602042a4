//! Where nodes and notes lie: moving, aligning, distributing.

import { itemOf, NODE, positionOf, type ItemId, type PipelineDocument } from "../document";
import type { Point } from "../types";
import { place } from "./base";
import { changeNote } from "./notes";

/** The line that things are put on. */
export type Alignment = "left" | "centre" | "right" | "top" | "middle" | "bottom";

interface Thing {
  id: ItemId;
  at: Point;
  size: Point;
}

/** Moves tasks, notes and all tasks of frames by so many pixels, each once. What has no place stays without. */
export function move(document: PipelineDocument, ids: Iterable<ItemId>, [byX, byY]: Point): PipelineDocument {
  if (byX === 0 && byY === 0) return document;
  return put(document, thingsOf(document, ids).map(({ id, at: [x, y] }) => [id, [x + byX, y + byY]]));
}

/** Puts the selected things on one line: the outermost border, or the middle of all. */
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

/** Makes the gaps between the selected things equal; the outermost two stay. */
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

/** What is selected and has a place; a frame stands for its tasks. */
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
