//! A canvas of the visible height in a scrolled box, so that ten thousand cells scroll as fast as ten.

import { coloursIn } from "../canvas/paint/colours";
import type { Colours } from "../canvas/paint/colours";
import { h } from "../core/dom";
import { onTheme } from "../core/theme";

/** What is drawn. */
export interface Drawing {
  /** Lays out for a width; returns the height of everything. Both are in pixels. */
  arrange: (width: number) => number;
  /** Paints the part from `top` to `bottom`. The context is cleared, and has the coordinates of everything. */
  paint: (context: CanvasRenderingContext2D, colours: Colours, top: number, bottom: number) => void;
}

export class Surface {
  readonly canvas = h("canvas", { class: "card-canvas", "aria-hidden": "true" });
  /** As high as everything; it goes into the scrolled box. */
  readonly room = h("div", { class: "card-room" }, this.canvas);
  readonly #drawing: Drawing;
  #box: HTMLElement | undefined;
  #asked = false;
  /** Cached: reading them takes longer than drawing. */
  #colours: Colours | undefined;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
  }

  /** Starts to follow the box, which contains `room`. */
  watch(box: HTMLElement): void {
    this.#box = box;
    box.addEventListener("scroll", () => { this.draw(); }, { passive: true });
    for (const name of ["focus", "blur"]) box.addEventListener(name, () => { this.draw(); });
    new ResizeObserver(() => { this.arrange(); }).observe(box);
    onTheme(() => {
      this.#colours = undefined;
      this.draw();
    });
  }

  get top(): number {
    return this.#box?.scrollTop ?? 0;
  }

  get isFocused(): boolean {
    return document.activeElement === this.#box;
  }

  /** Lays out again: the size or the content has changed. */
  arrange(): void {
    const width = this.#box?.clientWidth ?? 0;
    const whole = this.#drawing.arrange(width);
    this.room.style.height = `${whole}px`;
    const height = Math.min(this.#box?.clientHeight ?? 0, whole);
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    this.draw();
  }

  /** Once per frame, however often it is requested. */
  draw(): void {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      const context = this.canvas.getContext("2d");
      // Outside of the page it has no colours; it is drawn when it is added.
      if (!context || !this.#box?.isConnected) return;
      this.#colours ??= coloursIn(this.#box);
      this.#paint(context, this.#colours);
    });
  }

  #paint(context: CanvasRenderingContext2D, colours: Colours): void {
    const { top } = this;
    const [width, height] = [context.canvas.width, context.canvas.height];
    const scale = devicePixelRatio;
    context.setTransform(scale, 0, 0, scale, 0, -top * scale);
    context.clearRect(0, top, width, height);
    context.font = `11px ${colours.font}`;
    this.#drawing.paint(context, colours, top, top + height / scale);
  }

  /** Scrolls so that the part from `y` to `end` is visible. */
  reveal(y: number, end: number): void {
    if (!this.#box) return;
    const high = this.#box.clientHeight;
    if (y < this.top) this.#box.scrollTop = Math.max(0, y);
    else if (end > this.top + high) this.#box.scrollTop = end - high;
  }
}
