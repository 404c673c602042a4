//! The editor's pipeline document: the keys of docs/pipeline-document.md as plain, immutable data. Unknown
//! keys are preserved.

import type { Point } from "./types";

/** The size of every node, in pixels: fixed, never measured. */
export const NODE = { width: 224, height: 72 } as const;

/** A value of the document. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A mapping of the document. */
export type JsonObject = Readonly<Record<string, Json>>;

/** One task. `name` is unique in the pipeline, and references use it. */
export interface Task {
  readonly name: string;
  readonly template: string;
  readonly description?: string;
  readonly arguments?: JsonObject;
  readonly needs?: readonly string[];
  readonly [key: string]: Json | undefined;
}

/** Tasks drawn with a border and a title around them. A task is in at most one frame. */
export interface Frame {
  readonly title: string;
  readonly tasks: readonly string[];
}

/** A text on the canvas. `at` is its top left corner, `size` its width and height, in pixels. */
export interface Note {
  readonly text: string;
  readonly at: Point;
  readonly size: Point;
}

/**
 * Data for the drawing only; no plan depends on it. Frames and notes have ids (`f1`, `n2`), unique in their
 * mapping.
 */
export interface Canvas {
  readonly direction?: "right" | "down";
  /** The top left corner of each task's node, in pixels. A task without one is laid out. */
  readonly positions?: Readonly<Record<string, Point>>;
  readonly frames?: Readonly<Record<string, Frame>>;
  readonly notes?: Readonly<Record<string, Note>>;
}

export interface PipelineDocument {
  readonly apiVersion: "cubeloom/v1";
  readonly kind: "Pipeline";
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly tasks: readonly Task[];
  readonly canvas?: Canvas;
  readonly [key: string]: unknown;
}

/** A selectable item: `task:pull`, `frame:f1`, `note:n2`, `edge:pull>train`. */
export type ItemId = `task:${string}` | `frame:${string}` | `note:${string}` | `edge:${string}>${string}`;

/** An item's kind and its name or id. */
export function itemOf(id: ItemId): { kind: "task" | "frame" | "note" | "edge"; name: string } {
  const colon = id.indexOf(":");
  return { kind: id.slice(0, colon) as "task", name: id.slice(colon + 1) };
}

/** The names of the selected tasks. */
export function tasksIn(selection: Iterable<ItemId>): string[] {
  return [...selection].map(itemOf).filter(({ kind }) => kind === "task").map(({ name }) => name);
}

/** The edges of the document: one for each dependency on an existing task. */
export function edgesOf(document: PipelineDocument): { from: string; to: string }[] {
  const names = new Set(document.tasks.map((task) => task.name));
  return document.tasks.flatMap((task) => (task.needs ?? []).filter((need) => names.has(need)).map((from) => ({ from, to: task.name })));
}

export function taskOf(document: PipelineDocument, name: string): Task | undefined {
  return document.tasks.find((task) => task.name === name);
}

/** The position of a task's node, if it has one. */
export function positionOf(document: PipelineDocument, name: string): Point | undefined {
  const positions = document.canvas?.positions;
  // A task may be named `constructor`.
  return positions && Object.hasOwn(positions, name) ? positions[name] : undefined;
}

/** A document without tasks. */
export function emptyDocument(name: string): PipelineDocument {
  return { apiVersion: "cubeloom/v1", kind: "Pipeline", name, tasks: [] };
}
