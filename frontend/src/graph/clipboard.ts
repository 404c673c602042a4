//! Copies and pastes parts of a pipeline, as document text.

import { itemOf, NODE, positionOf, type Canvas, type Frame, type ItemId, type Note, type PipelineDocument, type Task } from "./document";
import { withCanvas, without, withNeeds } from "./edits/base";
import { freeId } from "./edits/frames";
import { freshNames, withNames } from "./edits/rename";
import type { Point } from "./types";
import { toYaml } from "./yaml";

/** A part of a document. */
export interface Clip {
  readonly tasks: readonly Task[];
  readonly canvas?: Canvas;
}

/** The result of a paste. */
export interface Pasted {
  readonly document: PipelineDocument;
  /** The new tasks, frames and notes, to be selected. */
  readonly items: readonly ItemId[];
  /** Omitted dependencies: neither the clip nor the document has such a task. */
  readonly dropped: readonly { task: string; need: string }[];
}

/** The selection as a clip. A frame includes its tasks; a task alone is copied without its frame. */
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

/** The position of a paste: shifted by pixels, or with its top left corner at a point. */
export type Landing = { readonly by: Point } | { readonly at: Point };

/**
 * Pastes a clip into a document. Taken names are replaced, and dependencies and expressions in the clip
 * follow. Dependencies on existing tasks are kept: new tasks after old ones close no cycle.
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

/** Pasted text may contain a cycle: each dependency that would close one is omitted. */
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

/** Duplicates the selection, beside the original. */
export function duplicate(document: PipelineDocument, selection: Iterable<ItemId>, by: Point = [24, NODE.height + 24]): Pasted {
  return paste(document, clipOf(document, selection), { by });
}
