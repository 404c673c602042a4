//! Which nodes have elements: visible and nearby ones, added a few per frame, so that no frame takes long.
//! xyflow gets only these.

import type { Node } from "@xyflow/react";
import type { Scene } from "./scene";
import { touches, type Rect } from "./view";

/** A canvas element as an xyflow node. `name` is a task's name, or the id of a frame or a note. */
export type FlowNode = Node<{ name: string }, "task" | "frame" | "note">;

/** How many nodes get an element per frame. */
const AT_ONCE = 12;

/** The list of nodes for xyflow. */
export class Mounts {
  #nodes: FlowNode[] = [];
  #made = new Map<string, FlowNode>();
  #frame = 0;
  readonly #listeners = new Set<() => void>();
  readonly #done: () => void;

  /** `done` is called once all wanted nodes have elements, after the last batch. */
  constructor(done: () => void) {
    this.#done = done;
  }

  /** The list, a new one after each change. */
  get nodes(): FlowNode[] {
    return this.#nodes;
  }

  has(id: string): boolean {
    return this.#made.has(id);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Requests elements for everything that touches a part of the drawing; `null` requests none. Unwanted ones
   * are removed at once; new ones are added a few per frame, or all at once.
   */
  want(scene: Scene, part: Rect | null, atOnce = false): void {
    cancelAnimationFrame(this.#frame);
    const wanted = part ? wantedIn(scene, part) : new Map<string, Wanted>();
    const made = new Map<string, FlowNode>();
    const missing: [string, Wanted][] = [];
    for (const [id, one] of wanted) {
      const before = this.#made.get(id);
      if (before) made.set(id, placed(before, one));
      else if (atOnce) made.set(id, flowNode(id, one));
      else missing.push([id, one]);
    }
    const same = made.size === this.#made.size && [...made].every(([id, node]) => this.#made.get(id) === node);
    this.#made = made;
    if (!same) this.#show();
    if (missing.length > 0) this.#later(missing);
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
  }

  #later(missing: [string, Wanted][]): void {
    this.#frame = requestAnimationFrame(() => {
      for (const [id, one] of missing.slice(0, AT_ONCE)) this.#made.set(id, flowNode(id, one));
      this.#show();
      if (missing.length > AT_ONCE) this.#later(missing.slice(AT_ONCE));
      else this.#done();
    });
  }

  #show(): void {
    this.#nodes = [...this.#made.values()];
    for (const listener of this.#listeners) listener();
  }
}

interface Wanted extends Rect {
  kind: "task" | "frame" | "note";
  name: string;
}

function wantedIn(scene: Scene, part: Rect): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const frame of scene.frames) {
    if (frame.width > 0 && touches(frame, part)) wanted.set(`frame:${frame.id}`, { ...rectOf(frame), kind: "frame", name: frame.id });
  }
  for (const note of scene.notes) if (touches(note, part)) wanted.set(`note:${note.id}`, { ...rectOf(note), kind: "note", name: note.id });
  for (const node of scene.grid.within(part)) wanted.set(`task:${node.name}`, { ...rectOf(node), kind: "task", name: node.name });
  return wanted;
}

function rectOf({ x, y, width, height }: Rect): Rect {
  return { x, y, width, height };
}

function placed(before: FlowNode, { x, y, width, height }: Wanted): FlowNode {
  const same = before.position.x === x && before.position.y === y && before.width === width && before.height === height;
  return same ? before : { ...before, position: { x, y }, width, height, style: at(x, y) };
}

// With handles, even if empty: otherwise xyflow would look for them in the page.
function flowNode(id: string, { kind, name, x, y, width, height }: Wanted): FlowNode {
  const layer = { frame: -1, note: 0, task: 1 }[kind];
  return { id, type: kind, position: { x, y }, width, height, style: at(x, y), data: { name }, handles: [], zIndex: layer };
}

// With `left` and `top`: with its own transform, each node is painted and committed separately, which takes
// twice as long.
function at(x: number, y: number): NonNullable<FlowNode["style"]> {
  return { transform: "none", left: x, top: y };
}

/** Moves an element to its node's current position. */
export function putElement(element: HTMLElement, { x, y }: { x: number; y: number }): void {
  element.style.left = `${x}px`;
  element.style.top = `${y}px`;
}

