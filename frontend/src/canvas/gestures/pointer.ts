//! Starts a gesture on pointer down. Everything else is xyflow's: panning and zooming.

import type { ItemId } from "../../graph/document";
import { itemOf } from "../../graph/document";
import { finishConnecting } from "../connect";
import { hit, REACH, type Hit } from "../hit";
import type { Stage } from "../stage";
import { autoPan } from "./auto-pan";
import { Box } from "./box";
import { Connect } from "./connect";
import type { Gesture } from "./gesture";
import { Move } from "./move";
import { Resize } from "./resize";

/** The movement tolerance of a click, in screen pixels. */
const STILL = 4;

interface Press {
  readonly pointer: number;
  readonly x: number;
  readonly y: number;
  /** The gesture that a drag starts; null if it can only be a click. */
  readonly drag: (() => Gesture) | null;
  /** The action of a click. */
  readonly click: () => void;
}

export class Pointer {
  readonly #stage: Stage;
  readonly #root: HTMLElement;
  #press: Press | null = null;
  #gesture: Gesture | null = null;
  #last: PointerEvent | null = null;
  #taken = false;
  readonly #pan: ReturnType<typeof autoPan>;

  constructor(stage: Stage, root: HTMLElement) {
    this.#stage = stage;
    this.#root = root;
    this.#pan = autoPan(stage, () => { this.#step(); });
  }

  /** Subscribes to pointer events. Returns the unsubscribe function. */
  listen(): () => void {
    const root = this.#root;
    const listeners = {
      pointerdown: (event: PointerEvent) => { this.#down(event); },
      pointermove: (event: PointerEvent) => { this.#moved(event); },
      pointerup: (event: PointerEvent) => { this.#up(event); },
      pointercancel: () => { this.cancel(); },
    };
    const stop = (event: Event) => {
      if (this.#taken) event.stopPropagation();
    };
    const capture = { capture: true };
    for (const [name, listener] of Object.entries(listeners)) root.addEventListener(name, listener as EventListener, capture);
    for (const name of ["mousedown", "touchstart"]) root.addEventListener(name, stop, { capture: true, passive: true });
    return () => {
      this.#pan.stop();
      for (const [name, listener] of Object.entries(listeners)) root.removeEventListener(name, listener as EventListener, capture);
      for (const name of ["mousedown", "touchstart"]) root.removeEventListener(name, stop, capture);
    };
  }

  /** Whether a drag is in progress. */
  get busy(): boolean {
    return this.#gesture !== null;
  }

  /** Cancels the gesture, without a change. */
  cancel(): void {
    this.#gesture?.cancel();
    this.#gesture = null;
    this.#press = null;
    this.#pan.stop();
  }

  /** The item at the pointer. */
  at(event: { clientX: number; clientY: number; pointerType?: string }): Hit | null {
    const { x, y } = this.#stage.point(event);
    const { scene, view, far, readOnly } = this.#stage;
    return hit(scene, x, y, view.zoom, !far && !readOnly, event.pointerType === "touch" ? REACH.touch : REACH.mouse);
  }

  #down(event: PointerEvent): void {
    this.#taken = false;
    if (!event.isPrimary) {
      this.cancel();
      return;
    }
    if (event.button !== 0 || isWriting(event.target)) return;
    const found = this.at(event);
    if (this.#stage.ui.state.connecting) {
      this.#taken = true;
      if (found?.kind === "task" || found?.kind === "port") finishConnecting(this.#stage, found.node.name);
      else this.#stage.ui.set({ connecting: null });
      return;
    }
    this.#press = this.#pressOn(found, event);
    this.#taken = this.#press.drag !== null;
  }

  #pressOn(found: Hit | null, event: PointerEvent): Press {
    const { store, readOnly } = this.#stage;
    const { x, y } = this.#stage.point(event);
    const press = { pointer: event.pointerId, x: event.clientX, y: event.clientY };
    const more = event.shiftKey || event.ctrlKey || event.metaKey;
    if (!found) {
      const box = event.shiftKey ? () => new Box(this.#stage, x, y) : null;
      return { ...press, drag: box, click: () => { if (!more) store.select([]); } };
    }
    if (found.kind === "port") {
      const { node, side } = found;
      return { ...press, drag: () => new Connect(this.#stage, node, side), click: () => { this.#choose(`task:${node.name}`, more); } };
    }
    const { id } = found;
    const chosen = store.state.selection.has(id);
    // A finger pans the view, except on the selection, which it drags.
    const drags = found.kind !== "edge" && !readOnly && (event.pointerType === "mouse" || chosen);
    if (!drags) return { ...press, drag: null, click: () => { this.#choose(id, more); } };
    const drag = () => {
      if (!store.state.selection.has(id)) this.#choose(id, more);
      const note = found.kind === "note" && found.corner ? this.#stage.scene.notes.find((one) => `note:${one.id}` === id) : undefined;
      return note ? new Resize(this.#stage, note) : new Move(this.#stage, x, y);
    };
    return { ...press, drag, click: () => { this.#choose(id, more); } };
  }

  #choose(id: ItemId, more: boolean): void {
    const { store } = this.#stage;
    const before = store.state.selection;
    if (!more) store.select([id]);
    else if (before.has(id)) store.select([...before].filter((one) => one !== id));
    else store.select([...before, id]);
  }

  #moved(event: PointerEvent): void {
    this.#last = event;
    if (this.#gesture) {
      // Reads the canvas position before the step moves elements: the browser would recompute the layout once
      // more.
      this.#pan.at(event);
      this.#step();
      return;
    }
    const press = this.#press;
    if (!press) {
      this.#hover(event);
      return;
    }
    if (event.pointerId !== press.pointer || Math.hypot(event.clientX - press.x, event.clientY - press.y) < STILL) return;
    this.#press = null;
    if (!press.drag) return;
    this.#root.setPointerCapture(event.pointerId);
    this.#gesture = press.drag();
    this.#step();
  }

  #step(): void {
    if (!this.#last) return;
    const { x, y } = this.#stage.point(this.#last);
    this.#gesture?.move(x, y, this.#last);
  }

  #up(event: PointerEvent): void {
    const [gesture, press] = [this.#gesture, this.#press];
    this.#gesture = this.#press = null;
    this.#pan.stop();
    if (gesture) {
      const { x, y } = this.#stage.point(event);
      gesture.end(x, y, event);
    } else if (press?.pointer === event.pointerId) {
      press.click();
    }
  }

  #hover(event: PointerEvent): void {
    if (event.pointerType !== "mouse" || event.buttons !== 0) return;
    const found = this.at(event);
    const edge = found?.kind === "edge" ? found.edge : null;
    this.#root.dataset["over"] = found?.kind === "note" && found.corner ? "corner" : (found?.kind ?? "");
    if (edge === this.#stage.hovered) return;
    this.#stage.hovered = edge;
    this.#stage.paint("top");
  }
}

/** The task of a hit. */
export function taskAt(found: Hit | null): string | null {
  if (found?.kind === "port") return found.node.name;
  return found?.kind === "task" ? itemOf(found.id).name : null;
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, button, [contenteditable=true]") !== null;
}
