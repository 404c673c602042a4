//! The visible part of the canvas: xyflow holds the view, and the camera requests changes of it.

import type { ReactFlowInstance } from "@xyflow/react";
import type { FlowNode } from "./mounts";
import { ZOOM } from "./size";
import { between, fitted, revealed, toDrawing, type Rect, type Size, type View } from "./view";

/** Duration of view transitions in milliseconds, unless the user prefers reduced motion. */
const MOTION = 220;

/** The initial scale if the whole drawing would be unreadable. */
const READABLE = 0.7;

/** The minimum scale at which the whole drawing is shown initially: names are readable. */
const WHOLE = 0.25;

/** The margin around fitted content: a maximum in screen pixels, and a fraction of the canvas. */
const BORDER = { most: 48, part: 0.06 } as const;

/** Size changes below this many pixels are ignored: a banner above the canvas moves nothing. */
const LITTLE = 96;

/** Tolerances for equal views: a transition ends with an error below a pixel. */
const SAME = { place: 1, zoom: 0.002 } as const;

export class Camera {
  view: View = { x: 0, y: 0, zoom: 1 };
  size: Size = { width: 0, height: 0 };
  readonly #bounds: () => Rect | null;
  readonly #listeners = new Set<() => void>();
  #flow: ReactFlowInstance<FlowNode> | null = null;
  // The target of the transition.
  #goal: View | null = null;
  #kept: { readonly view: View; readonly size: Size; readonly again: () => View | null } | null = null;

  /** `bounds` is the bounding box of everything. */
  constructor(bounds: () => Rect | null) {
    this.#bounds = bounds;
  }

  /** Called when xyflow is ready. */
  ready(flow: ReactFlowInstance<FlowNode>): void {
    this.#flow = flow;
  }

  /** Called when xyflow's view has changed. */
  viewed(view: View): void {
    this.view = view;
    for (const listener of this.#listeners) listener();
  }

  /** Subscribes to view changes. Returns the unsubscribe function. */
  onView(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes the view. */
  show(view: View, motion = false): void {
    this.#goal = null;
    if (!this.#flow) this.view = view;
    else if (!motion || matchMedia("(prefers-reduced-motion: reduce)").matches) void this.#flow.setViewport(view);
    else this.#glide(view, this.view, performance.now());
  }

  // A view change by the user ends the transition.
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

  /** Pans by screen pixels. */
  panBy(x: number, y: number): void {
    this.show({ ...this.view, x: this.view.x + x, y: this.view.y + y });
  }

  /** Zooms around the centre. */
  zoomBy(factor: number): void {
    const zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, this.view.zoom * factor));
    const [x, y] = [this.size.width / 2, this.size.height / 2];
    const by = zoom / this.view.zoom;
    this.show({ zoom, x: x - (x - this.view.x) * by, y: y - (y - this.view.y) * by }, true);
  }

  /** Fits a part, or everything; after a resize, everything is fitted again. */
  fit(part?: Rect | null): void {
    if (part) this.show(this.#fitted(part), true);
    else this.#keep(() => this.#whole(), true);
  }

  /** Shows the initial view, also again after a resize. */
  begin(): void {
    this.#keep(() => this.first());
  }

  /** After a resize, fits again what was fitted, unless the user has moved the view since. */
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

  /** Pans as little as needed to make a part visible. */
  reveal(part: Rect): void {
    const view = revealed(this.view, part, this.size);
    if (view.x !== this.view.x || view.y !== this.view.y) this.show(view, true);
  }

  /** The centre of the visible part of the drawing. */
  middle(): { x: number; y: number } {
    return toDrawing(this.view, this.size.width / 2, this.size.height / 2);
  }

  /** The initial view: everything if that is readable, else the beginning. */
  first(): View {
    const all = this.#bounds();
    if (!all) return { x: this.size.width / 2, y: this.size.height / 2, zoom: 1 };
    const whole = this.#fitted(all);
    if (whole.zoom >= WHOLE) return whole;
    const [width, height] = [Math.min(all.width, this.size.width / READABLE), Math.min(all.height, this.size.height / READABLE)];
    return this.#fitted({ x: all.x, y: all.y + (all.height - height) / 2, width, height }, READABLE);
  }
}

function same(a: View, b: View): boolean {
  return Math.abs(a.x - b.x) < SAME.place && Math.abs(a.y - b.y) < SAME.place && Math.abs(a.zoom - b.zoom) < SAME.zoom;
}
