//! The drawn items by position: nodes, edges, frames and notes, derived from the document and moved during a
//! drag. Mutable, so that pointer moves allocate nothing; the document stays the source of truth.

import { itemOf, NODE, positionOf, type Frame, type ItemId, type Note, type PipelineDocument, type Task } from "../graph/document";
import { FRAME_ROOM } from "../graph/edits/frames";
import type { Curve } from "../graph/line";
import type { Direction, Point } from "../graph/types";
import { boundsOf, curveOf, source, target } from "./curve";
import { Grid } from "./grid";
import { placeBeside } from "./beside";
import { ASIDE, Routes } from "./routes";
import { around, touches, type Rect } from "./view";

/** A task's node. `x` and `y` are its current position. */
export interface SceneNode {
  readonly name: string;
  task: Task;
  x: number;
  y: number;
  readonly width: number;
  readonly height: number;
  readonly before: SceneEdge[];
  readonly after: SceneEdge[];
}

/** An edge between two nodes. It is a plain curve until it is known whether nodes are in its way. */
export interface SceneEdge {
  readonly id: `edge:${string}>${string}`;
  readonly from: SceneNode;
  readonly to: SceneNode;
  line: readonly Curve[] | null;
  /** While its ends are dragged it is not routed around nodes. */
  dragged: boolean;
  bounds: Rect;
}

/** A frame, sized to fit its tasks. */
export interface SceneFrame extends Rect {
  readonly id: string;
  readonly frame: Frame;
}

export interface SceneNote extends Rect {
  x: number;
  y: number;
  readonly id: string;
  readonly note: Note;
}

const NOWHERE: Rect = { x: 0, y: 0, width: 0, height: 0 };

export class Scene {
  readonly nodes = new Map<string, SceneNode>();
  edges: SceneEdge[] = [];
  frames: SceneFrame[] = [];
  notes: SceneNote[] = [];
  direction: Direction = "right";
  readonly grid = new Grid<SceneNode>();
  readonly routes = new Routes(this.grid);
  #document: PipelineDocument | null = null;
  #places: ReadonlyMap<string, Point> = new Map();
  // The document position of each node during a drag.
  readonly #homes = new WeakMap<SceneNode, Rect>();

  /**
   * Shows a document. `places` are for tasks without a position in it. A task in neither is placed beside its
   * dependencies, and nowhere as long as no task has a position.
   */
  show(document: PipelineDocument, places: ReadonlyMap<string, Point>): void {
    if (document === this.#document && places === this.#places) return;
    const before = this.#document;
    const sameGraph = before !== null && places === this.#places && before.canvas === document.canvas && sameEdges(before.tasks, document.tasks);
    this.#document = document;
    this.#places = places;
    if (sameGraph) {
      for (const task of document.tasks) {
        const node = this.nodes.get(task.name);
        if (node) node.task = task;
      }
      return;
    }
    const direction = document.canvas?.direction ?? "right";
    const changed = this.#showNodes(document, places);
    this.#showEdges();
    this.routes.show(this.edges, direction, direction === this.direction ? changed : null);
    this.direction = direction;
    this.notes = Object.entries(document.canvas?.notes ?? {}).map(([id, note]) => ({
      id, note, x: note.at[0], y: note.at[1], width: note.size[0], height: note.size[1],
    }));
    this.frames = Object.entries(document.canvas?.frames ?? {}).map(([id, frame]) => ({ id, frame, ...NOWHERE }));
    this.refreshFrames();
  }

  /** Whether tasks have no position yet, because the whole drawing needs a layout first. */
  get needsLayout(): boolean {
    return (this.#document?.tasks.length ?? 0) > 0 && this.nodes.size === 0;
  }

  /** The positions that are not in the document. */
  get unwritten(): Record<string, Point> {
    const document = this.#document;
    const missing = [...this.nodes.values()].filter(({ name }) => !document || !positionOf(document, name));
    return Object.fromEntries(missing.map(({ name, x, y }): [string, Point] => [name, [Math.round(x), Math.round(y)]]));
  }

  /** Moves a node temporarily; its edges follow. */
  move(node: SceneNode, x: number, y: number): void {
    node.x = x;
    node.y = y;
    for (const edge of node.before) drag(edge);
    for (const edge of node.after) drag(edge);
  }

  /** Resets everything to its document position. */
  reset(): void {
    const [document, places] = [this.#document, this.#places];
    this.#document = null;
    if (document) this.show(document, places);
  }

  /** Updates the index after nodes have moved. */
  settle(nodes: Iterable<SceneNode>): void {
    for (const node of nodes) this.grid.moved(node);
  }

  /** The current path of an edge. */
  line(edge: SceneEdge): readonly Curve[] {
    if (edge.line === null) {
      edge.line = [curveOf(source(edge.from, this.direction), target(edge.to, this.direction), this.direction)];
      edge.bounds = boundsOf(edge.line);
    }
    return edge.line;
  }

  /** Whether an edge may touch a rectangle: a cheap estimate while its path is unknown. */
  near({ line, bounds, from, to }: SceneEdge, part: Rect): boolean {
    if (line !== null) return touches(bounds, part);
    const [left, top] = [Math.min(from.x, to.x) - ASIDE, Math.min(from.y, to.y) - ASIDE];
    const [right, bottom] = [Math.max(from.x + from.width, to.x + to.width) + ASIDE, Math.max(from.y + from.height, to.y + to.height) + ASIDE];
    return left <= part.x + part.width && right >= part.x && top <= part.y + part.height && bottom >= part.y;
  }

  /** Updates the frames' borders to fit their tasks. */
  refreshFrames(): void {
    for (const one of this.frames) {
      const inside = around(one.frame.tasks.map((name) => this.nodes.get(name)).filter((node) => node !== undefined)) ?? NOWHERE;
      Object.assign(one, frameAround(inside));
    }
  }

  /** The box of a task, frame or note; `null` if it is not drawn. */
  placeOf(id: ItemId): Rect | null {
    const { kind, name } = itemOf(id);
    if (kind === "task") return this.nodes.get(name) ?? null;
    if (kind === "note") return this.notes.find((note) => note.id === name) ?? null;
    return this.frames.find((frame) => kind === "frame" && frame.id === name && frame.width > 0) ?? null;
  }

  /** The bounding box of everything; `null` if empty. */
  bounds(): Rect | null {
    return around([...this.nodes.values(), ...this.frames.filter(({ width }) => width > 0), ...this.notes]);
  }

  // Returns the areas where nodes were added, removed or moved.
  #showNodes(document: PipelineDocument, places: ReadonlyMap<string, Point>): Rect[] {
    const known = new Set(document.tasks.map((task) => task.name));
    const changed: Rect[] = [];
    for (const [name, node] of this.nodes) {
      if (known.has(name)) continue;
      this.nodes.delete(name);
      this.grid.remove(node);
      changed.push(this.#homes.get(node) ?? node);
    }
    const homeless: Task[] = [];
    for (const task of document.tasks) {
      const at = positionOf(document, task.name) ?? places.get(task.name);
      if (at) this.#put(task, at[0], at[1], changed);
      else homeless.push(task);
    }
    if (homeless.length === document.tasks.length) return changed;
    for (const task of homeless) {
      const at = placeBeside(this, task.needs ?? [], document.canvas?.direction ?? "right");
      this.#put(task, at.x, at.y, changed);
    }
    return changed;
  }

  #put(task: Task, x: number, y: number, changed: Rect[]): void {
    const node: SceneNode = this.nodes.get(task.name) ?? { name: task.name, task, x, y, ...NODE, before: [], after: [] };
    const home = this.#homes.get(node);
    Object.assign(node, { task, x, y });
    if (home) this.grid.moved(node);
    else {
      this.nodes.set(task.name, node);
      this.grid.add(node);
    }
    if (home?.x === x && home.y === y) return;
    const now = { x, y, ...NODE };
    this.#homes.set(node, now);
    changed.push(now, ...(home ? [home] : []));
  }

  #showEdges(): void {
    this.edges = [];
    for (const node of this.nodes.values()) node.before.length = node.after.length = 0;
    for (const to of this.nodes.values()) {
      for (const need of new Set(to.task.needs ?? [])) {
        const from = this.nodes.get(need);
        if (!from) continue;
        const edge: SceneEdge = { id: `edge:${need}>${to.name}`, from, to, line: null, dragged: false, bounds: NOWHERE };
        this.edges.push(edge);
        from.after.push(edge);
        to.before.push(edge);
      }
    }
  }
}

function drag(edge: SceneEdge): void {
  edge.line = null;
  edge.dragged = true;
}

/** The border of a frame around its content. */
export function frameAround(inside: Rect): Rect {
  if (inside.width === 0) return NOWHERE;
  return {
    x: inside.x - FRAME_ROOM.side,
    y: inside.y - FRAME_ROOM.top,
    width: inside.width + 2 * FRAME_ROOM.side,
    height: inside.height + FRAME_ROOM.top + FRAME_ROOM.bottom,
  };
}

function sameEdges(before: readonly Task[], now: readonly Task[]): boolean {
  return before.length === now.length && now.every((task, index) => {
    const old = before[index];
    return old === task || (old?.name === task.name && old.needs === task.needs);
  });
}
