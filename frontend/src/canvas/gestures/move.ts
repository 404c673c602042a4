//! Drags the selection. Elements and edges are moved directly; the document changes once, at the end.

import { t } from "../../core/texts";
import { itemOf, type ItemId } from "../../graph/document";
import { insertOnEdge, move } from "../../graph/edit";
import { edgeAt } from "../hit";
import { putElement } from "../mounts";
import type { SceneNode, SceneNote } from "../scene";
import { snap } from "../snap";
import type { Stage } from "../stage";
import { around, inSight, type Rect } from "../view";
import type { Gesture } from "./gesture";

interface Start<T> {
  thing: T;
  x: number;
  y: number;
  element: HTMLElement | null;
}

/** With more visible boxes than this, there would be an alignment line everywhere. */
const LINES = 400;

/** Moves the selected tasks and notes, and the tasks of selected frames. */
export class Move implements Gesture {
  readonly #stage: Stage;
  readonly #ids: ItemId[];
  readonly #from: { x: number; y: number };
  readonly #nodes: Start<SceneNode>[];
  readonly #notes: Start<SceneNote>[];
  readonly #box: Rect;
  #by = { x: 0, y: 0 };

  constructor(stage: Stage, x: number, y: number) {
    const { scene, store } = stage;
    this.#stage = stage;
    this.#from = { x, y };
    this.#ids = [...store.state.selection].filter((id) => itemOf(id).kind !== "edge");
    const chosen = new Set(this.#ids);
    const framed = scene.frames.filter(({ id }) => chosen.has(`frame:${id}`)).flatMap(({ frame }) => frame.tasks);
    const nodes = new Set([...this.#ids.map(itemOf).filter(({ kind }) => kind === "task").map(({ name }) => name), ...framed]);
    this.#nodes = [...nodes].map((name) => scene.nodes.get(name)).filter((node) => node !== undefined).map((node) => begin(node, stage.element(`task:${node.name}`)));
    this.#notes = scene.notes.filter(({ id }) => chosen.has(`note:${id}`)).map((note) => begin(note, stage.element(`note:${note.id}`)));
    this.#box = { ...(around([...this.#nodes, ...this.#notes].map(({ thing }) => thing)) ?? { x, y, width: 0, height: 0 }) };
    for (const { thing } of this.#nodes) stage.moving.add(thing);
    stage.ui.set({ dragging: true });
    stage.paint();
  }

  move(x: number, y: number, event: PointerEvent): void {
    const wanted = { ...this.#box, x: this.#box.x + x - this.#from.x, y: this.#box.y + y - this.#from.y };
    const { zoom } = this.#stage.view;
    const to = event.altKey ? { x: Math.round(wanted.x), y: Math.round(wanted.y), lines: [] } : snap(wanted, this.#others(wanted), zoom);
    this.#by = { x: to.x - this.#box.x, y: to.y - this.#box.y };
    this.#put();
    this.#stage.hovered = this.#edgeBelow();
    this.#stage.show({ lines: to.lines });
  }

  end(): void {
    const { x, y } = this.#by;
    const edge = this.#stage.hovered;
    const only = this.#nodes[0]?.thing.name;
    this.#finish();
    if (x === 0 && y === 0) {
      this.#stage.restore();
      return;
    }
    const ids = this.#ids;
    if (edge && only !== undefined) {
      this.#stage.apply(t("canvas.step-insert"), (document) => insertOnEdge(moved(document), only, edge.from.name, edge.to.name));
    } else {
      this.#stage.apply(t("canvas.step-move"), moved);
    }
    function moved(document: Parameters<typeof move>[0]) {
      return move(document, ids, [x, y]);
    }
  }

  cancel(): void {
    this.#by = { x: 0, y: 0 };
    this.#put();
    this.#finish();
    this.#stage.restore();
  }

  #finish(): void {
    const { stage, nodes } = { stage: this.#stage, nodes: this.#nodes.map(({ thing }) => thing) };
    stage.moving.clear();
    stage.scene.settle(nodes);
    stage.hovered = null;
    stage.ui.set({ dragging: false });
    stage.show({});
    stage.paint();
  }

  #put(): void {
    const { scene } = this.#stage;
    for (const { thing, x, y, element } of this.#nodes) {
      scene.move(thing, x + this.#by.x, y + this.#by.y);
      if (element) putElement(element, thing);
    }
    for (const { thing, x, y, element } of this.#notes) {
      thing.x = x + this.#by.x;
      thing.y = y + this.#by.y;
      if (element) putElement(element, thing);
    }
    this.#frames();
  }

  #frames(): void {
    const { scene } = this.#stage;
    if (scene.frames.length === 0) return;
    scene.refreshFrames();
    for (const frame of scene.frames) {
      const element = this.#stage.element(`frame:${frame.id}`);
      if (!element) continue;
      putElement(element, frame);
      element.style.width = `${frame.width}px`;
      element.style.height = `${frame.height}px`;
    }
  }

  // Candidates for alignment: near the box, and visible.
  #others(box: Rect): Rect[] {
    const { scene, view, size, moving, count } = this.#stage;
    const reach = 3 * Math.max(box.width, box.height);
    const room = count > LINES ? { x: box.x - reach, y: box.y - reach, width: 2 * reach, height: 2 * reach } : inSight(view, size);
    const nodes = [...scene.grid.within(room)].filter((node) => !moving.has(node)).slice(0, LINES);
    if (count > LINES) return nodes;
    return [...nodes, ...scene.notes.filter((note) => !this.#notes.some(({ thing }) => thing === note))];
  }

  // A node without edges splits the edge that it is dropped on.
  #edgeBelow() {
    const node = this.#nodes[0]?.thing;
    if (!node || this.#nodes.length > 1 || this.#notes.length > 0 || node.before.length + node.after.length > 0) return null;
    return edgeAt(this.#stage.scene, node.x + node.width / 2, node.y + node.height / 2, node.height / 2);
  }
}

function begin<T extends Rect>(thing: T, element: HTMLElement | null): Start<T> {
  return { thing, x: thing.x, y: thing.y, element };
}
