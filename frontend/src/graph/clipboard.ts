//! Copying and pasting parts of a pipeline. What is copied is a piece of the document's own text.

import { itemOf, NODE, positionOf, type Canvas, type Frame, type ItemId, type Note, type PipelineDocument, type Task } from "./document";
import { withCanvas, without, withNeeds } from "./edits/base";
import { freeId } from "./edits/frames";
import { freshNames, withNames } from "./edits/rename";
import type { Point } from "./types";
import { toYaml } from "./yaml";

/** A piece of a document. */
export interface Clip {
  readonly tasks: readonly Task[];
  readonly canvas?: Canvas;
}

/** What a paste made. */
export interface Pasted {
  readonly document: PipelineDocument;
  /** The new tasks, frames and notes, to be selected. */
  readonly items: readonly ItemId[];
  /** Needs that were left out, as neither the clip nor the document has such a task. */
  readonly dropped: readonly { task: string; need: string }[];
}

/** What is selected, as a piece. A frame brings its tasks; a task alone leaves its frame behind. */
export function clipOf(document: PipelineDocument, selection: Iterable<ItemId>): Clip {
  const [names, frames, notes] = [new Set<string>(), new Map<string, Frame>(), new Map<string, Note>()];
  for (const id of selection) {
    const { kind, name } = itemOf(id);
    const frame = kind === "frame" ? document.canvas?.frames?.[name] : undefined;
    const note = kind === "note" ? document.canvas?.notes?.[name] : undefined;
    if (kind === "task") names.add(name);
    if (frame) frames.set(name, frame);
    if (note) notes.set(name, note);
    frame?.tasks.forEach((task) => names.add(task));
  }
  const tasks = document.tasks.filter((task) => names.has(task.name));
  const positions = new Map(tasks.map((task) => [task.name, positionOf(document, task.name)]));
  return withParts(tasks, {
    positions: without(Object.fromEntries(positions)) as Record<string, Point>,
    frames: Object.fromEntries(frames),
    notes: Object.fromEntries(notes),
  });
}

function withParts(tasks: readonly Task[], parts: Canvas): Clip {
  const { canvas } = withCanvas({ apiVersion: "cubeloom/v1", kind: "Pipeline", name: "", tasks: [] }, parts);
  return canvas ? { tasks, canvas } : { tasks };
}

/** The clip's text: `tasks:` and `canvas:` as in a document. */
export function clipText(clip: Clip): string {
  return toYaml(clip as unknown as Parameters<typeof toYaml>[0]);
}

/** Where a paste lands: moved by so many pixels, or with its left upper corner at a point. */
export type Landing = { readonly by: Point } | { readonly at: Point };

/**
 * Puts a piece into a document. Names that are taken become fresh ones, and needs and expressions inside the piece follow.
 * Needs of tasks that the document has stay: new tasks that come after old ones close no cycle.
 */
export function paste(document: PipelineDocument, clip: Clip, landing: Landing): Pasted {
  if (clip.tasks.length === 0 && !clip.canvas) return { document, items: [], dropped: [] };
  const unique = clip.tasks.filter((task, at) => clip.tasks.findIndex((one) => one.name === task.name) === at);
  const names = freshNames(document, unique.map((task) => task.name));
  const known = new Set(document.tasks.map((task) => task.name));
  const dropped: { task: string; need: string }[] = [];
  const tasks = unique.map((task) => {
    const name = names.get(task.name) ?? task.name;
    const there = task.needs?.filter((need) => {
      const found = names.has(need) || known.has(need);
      if (!found) dropped.push({ task: name, need });
      return found;
    });
    const kept = there?.length === task.needs?.length ? task : withNeeds(task, there ?? []);
    return { ...withNames(kept, names), name };
  });
  const added = { ...document, tasks: [...document.tasks, ...openCycles(tasks)] };
  const canvas = onCanvas(document, clip, names, landing);
  const items = [...names.values()].map((name): ItemId => `task:${name}`);
  return { document: withCanvas(added, canvas.parts), items: [...items, ...canvas.items], dropped };
}

/** Pasted text may hold a cycle of its own: each need that would close one is left out. */
function openCycles(tasks: readonly Task[]): Task[] {
  const needs = new Map<string, string[]>(tasks.map((task) => [task.name, []]));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    from === to || (needs.get(from) ?? []).some((next) => !seen.has(next) && reaches(next, to, seen.add(next)));
  return tasks.map((task) => {
    const kept = (task.needs ?? []).filter((need) => !needs.has(need) || !reaches(need, task.name));
    needs.set(task.name, kept);
    return kept.length === (task.needs?.length ?? 0) ? task : withNeeds(task, kept);
  });
}

function onCanvas(document: PipelineDocument, clip: Clip, names: ReadonlyMap<string, string>, landing: Landing): { parts: Canvas; items: ItemId[] } {
  const { positions = {}, frames = {}, notes = {} } = clip.canvas ?? {};
  const [byX, byY] = offset([...Object.values(positions), ...Object.values(notes).map((note) => note.at)], landing);
  const moved = ([x, y]: Point): Point => [x + byX, y + byY];
  const own = document.canvas ?? {};
  const nextPositions: Record<string, Point> = { ...own.positions };
  for (const [name, fresh] of names) if (Object.hasOwn(positions, name)) nextPositions[fresh] = moved(positions[name] ?? [0, 0]);
  const nextFrames: Record<string, Frame> = { ...own.frames };
  const nextNotes: Record<string, Note> = { ...own.notes };
  const items: ItemId[] = [];
  for (const frame of Object.values(frames)) {
    const tasks = frame.tasks.map((task) => names.get(task)).filter((task) => task !== undefined);
    if (tasks.length === 0) continue;
    const id = freeId("f", nextFrames);
    nextFrames[id] = { title: frame.title, tasks };
    items.push(`frame:${id}`);
  }
  for (const note of Object.values(notes)) {
    const id = freeId("n", nextNotes);
    nextNotes[id] = { ...note, at: moved(note.at) };
    items.push(`note:${id}`);
  }
  return { parts: { positions: nextPositions, frames: nextFrames, notes: nextNotes }, items };
}

function offset(places: readonly Point[], landing: Landing): Point {
  if ("by" in landing) return landing.by;
  if (places.length === 0) return [0, 0];
  return [landing.at[0] - Math.min(...places.map(([x]) => x)), landing.at[1] - Math.min(...places.map(([, y]) => y))];
}

/** A copy of what is selected, beside it. */
export function duplicate(document: PipelineDocument, selection: Iterable<ItemId>, by: Point = [24, NODE.height + 24]): Pasted {
  return paste(document, clipOf(document, selection), { by });
}
