//! What is in sight, and how it is changed: xyflow holds the view, here it is asked for another one.

import type { ReactFlowInstance } from "@xyflow/react";
import type { FlowNode } from "./mounts";
import { ZOOM } from "./size";
import { between, fitted, revealed, toDrawing, type Rect, type Size, type View } from "./view";

/** Views change in this many milliseconds, unless somebody wants less motion. */
const MOTION = 220;

/** Opened at this scale when the whole could not be read. */
const READABLE = 0.7;

/** The whole is shown first when this scale is enough for it: in a narrow room names are enough. */
const WHOLE = { wide: 0.49, narrow: 0.25 } as const;
const NARROW = 600;

/** The free border around what is fitted, in pixels of the screen, and as a part of the room. */
const BORDER = { most: 48, part: 0.06 } as const;

/** A room that changes by less than this, in pixels, is the same one: a line that comes above it moves nothing. */
const LITTLE = 96;

/** Two views that look the same: what ends a motion is exact to a part of a pixel. */
const SAME = { place: 1, zoom: 0.002 } as const;

/** The camera of a canvas. */
export class Camera {
  view: View = { x: 0, y: 0, zoom: 1 };
  size: Size = { width: 0, height: 0 };
  readonly #bounds: () => Rect | null;
  readonly #listeners = new Set<() => void>();
  #flow: ReactFlowInstance<FlowNode> | null = null;
  // Where it glides to.
  #goal: View | null = null;
  #kept: { readonly view: View; readonly size: Size; readonly again: () => View | null } | null = null;

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
    this.#goal = null;
    if (!this.#flow) this.view = view;
    else if (!motion || matchMedia("(prefers-reduced-motion: reduce)").matches) void this.#flow.setViewport(view);
    else this.#glide(view, this.view, performance.now());
  }

  // Whoever moves the view meanwhile ends it.
  #glide(to: View, from: View, begun: number, last = from): void {
    this.#goal = to;
    requestAnimationFrame((now) => {
      if (this.#goal !== to || !same(this.view, last)) return;
      const part = Math.min(1, Math.max(0, (now - begun) / MOTION));
      const next = part < 1 ? between(from, to, 1 - (1 - part) ** 3) : to;
      void this.#flow?.setViewport(next);
      if (part < 1) this.#glide(to, from, begun, next);
    });
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

  /** Shows a part, or everything; everything stays in sight when the room changes. */
  fit(part?: Rect | null): void {
    if (part) this.show(this.#fitted(part), true);
    else this.#keep(() => this.#whole(), true);
  }

  /** Shows what is shown first; it is so again when the room changes. */
  begin(): void {
    this.#keep(() => this.first());
  }

  /** The room is another one: what was fitted is fitted again, as long as nobody has moved the view since. */
  resized(size: Size): void {
    this.size = size;
    const kept = this.#kept;
    const little = kept && Math.abs(size.width - kept.size.width) < LITTLE && Math.abs(size.height - kept.size.height) < LITTLE;
    if (!kept || little || size.width === 0) return;
    if (same(kept.view, this.view)) this.#keep(kept.again);
    else this.#kept = null;
  }

  #keep(again: () => View | null, motion = false): void {
    const view = again();
    if (!view) return;
    this.#kept = { view, size: this.size, again };
    this.show(view, motion);
  }

  #whole(): View | null {
    const all = this.#bounds();
    return all && this.#fitted(all);
  }

  #fitted(part: Rect, most = 1): View {
    return fitted(part, this.size, most, Math.min(BORDER.most, BORDER.part * Math.min(this.size.width, this.size.height)));
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
    const whole = this.#fitted(all);
    if (whole.zoom >= (this.size.width < NARROW ? WHOLE.narrow : WHOLE.wide)) return whole;
    const [width, height] = [Math.min(all.width, this.size.width / READABLE), Math.min(all.height, this.size.height / READABLE)];
    return this.#fitted({ x: all.x, y: all.y + (all.height - height) / 2, width, height }, READABLE);
  }
}

function same(a: View, b: View): boolean {
  return Math.abs(a.x - b.x) < SAME.place && Math.abs(a.y - b.y) < SAME.place && Math.abs(a.zoom - b.zoom) < SAME.zoom;
}
