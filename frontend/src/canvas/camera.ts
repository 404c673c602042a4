//! What is in sight, and how it is changed: xyflow holds the view, here it is asked for another one.

import type { ReactFlowInstance } from "@xyflow/react";
import type { FlowNode } from "./mounts";
import { ZOOM } from "./size";
import { fitted, revealed, toDrawing, type Rect, type Size, type View } from "./view";

/** Views change in this many milliseconds, unless somebody wants less motion. */
const MOTION = 220;

/** Opened at this scale when the whole could not be read. */
const READABLE = 0.7;

/** The camera of a canvas. */
export class Camera {
  view: View = { x: 0, y: 0, zoom: 1 };
  size: Size = { width: 0, height: 0 };
  readonly #bounds: () => Rect | null;
  readonly #listeners = new Set<() => void>();
  #flow: ReactFlowInstance<FlowNode> | null = null;

  /** `bounds` is the rectangle around everything. */
  constructor(bounds: () => Rect | null) {
    this.#bounds = bounds;
  }

  /** xyflow is there. */
  ready(flow: ReactFlowInstance<FlowNode>): void {
    this.#flow = flow;
  }

  /** xyflow shows another part now. */
  viewed(view: View): void {
    this.view = view;
    for (const listener of this.#listeners) listener();
  }

  /** Calls when another part is shown; returns how to stop. */
  onView(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Shows another part. */
  show(view: View, motion = false): void {
    const still = !motion || matchMedia("(prefers-reduced-motion: reduce)").matches;
    void this.#flow?.setViewport(view, still ? {} : { duration: MOTION });
  }

  /** Moves by pixels of the screen. */
  panBy(x: number, y: number): void {
    this.show({ ...this.view, x: this.view.x + x, y: this.view.y + y });
  }

  /** Zooms about the middle. */
  zoomBy(factor: number): void {
    const zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, this.view.zoom * factor));
    const [x, y] = [this.size.width / 2, this.size.height / 2];
    const by = zoom / this.view.zoom;
    this.show({ zoom, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by }, true);
  }

  /** Shows a part, or everything. */
  fit(part: Rect | null = this.#bounds()): void {
    if (part) this.show(fitted(part, this.size), true);
  }

  /** Moves the view as little as needed to have a part in sight. */
  reveal(part: Rect): void {
    const view = revealed(this.view, part, this.size);
    if (view.x !== this.view.x || view.y !== this.view.y) this.show(view, true);
  }

  /** The point of the drawing in the middle of what is in sight. */
  middle(): { x: number; y: number } {
    return toDrawing(this.view, this.size.width / 2, this.size.height / 2);
  }

  /** What is shown first: everything when that can be read, else where it begins. */
  first(): View {
    const all = this.#bounds();
    if (!all) return { x: this.size.width / 2, y: this.size.height / 2, zoom: 1 };
    const whole = fitted(all, this.size);
    if (whole.zoom >= READABLE * 0.7) return whole;
    const [width, height] = [Math.min(all.width, this.size.width / READABLE), Math.min(all.height, this.size.height / READABLE)];
    return fitted({ x: all.x, y: all.y + (all.height - height) / 2, width, height }, this.size, READABLE);
  }
}
