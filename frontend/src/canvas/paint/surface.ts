//! A canvas with an image of the visible part and a margin. The image can be shifted with the view for a
//! while instead of being repainted.

import type { Size, View } from "../view";

/** The rendering context. */
export type Drawn = CanvasRenderingContext2D;

/** The geometry of an image. */
export interface Frame {
  readonly view: View;
  /** The size of the visible part. */
  readonly size: Size;
  /** The margin around it, in screen pixels. */
  readonly pad: number;
  /** Image pixels per screen pixel. */
  readonly sharp: number;
}

/** A canvas element, and the view of its image. */
export class Surface {
  readonly #element: HTMLCanvasElement;
  #view: View | null = null;
  #pad = 0;

  constructor(element: HTMLCanvasElement) {
    this.#element = element;
  }

  /** The scale of the image; `null` before the first. */
  get zoom(): number | null {
    return this.#view?.zoom ?? null;
  }

  /** Shows what `draw` paints. The unit is a drawing pixel. */
  show(frame: Frame, draw: (to: Drawn) => void): void {
    const { view, pad, sharp } = frame;
    const to = this.#element.getContext("2d");
    if (!to) return;
    this.#fit(frame);
    this.#view = view;
    this.#pad = pad;
    to.setTransform(1, 0, 0, 1, 0, 0);
    to.clearRect(0, 0, this.#element.width, this.#element.height);
    to.setTransform(sharp * view.zoom, 0, 0, sharp * view.zoom, sharp * (view.x + pad), sharp * (view.y + pad));
    draw(to);
    this.#element.hidden = false;
    this.#element.style.transform = "";
  }

  /** Hides the canvas. An empty image would still be composited with every frame. */
  hide(): void {
    this.#element.hidden = true;
  }

  /** Whether the image contains everything that a view of the same scale shows. */
  reaches(view: View): boolean {
    if (this.#view?.zoom !== view.zoom) return false;
    return Math.abs(view.x - this.#view.x) <= this.#pad && Math.abs(view.y - this.#view.y) <= this.#pad;
  }

  /** Whether the image, shifted and scaled to a view, covers the whole visible part. */
  fills(view: View, { width, height }: Size): boolean {
    if (!this.#view) return false;
    const scale = view.zoom / this.#view.zoom;
    const [left, top] = [view.x - (this.#view.x + this.#pad) * scale, view.y - (this.#view.y + this.#pad) * scale];
    return left <= 0 && top <= 0 && left + (width + 2 * this.#pad) * scale >= width && top + (height + 2 * this.#pad) * scale >= height;
  }

  /** Shifts and scales the existing image to a view. */
  shift(view: View): void {
    if (!this.#view) return;
    const scale = view.zoom / this.#view.zoom;
    const by = scale === 1 ? "" : ` scale(${scale})`;
    this.#element.style.transform = `translate(${view.x - this.#view.x * scale}px,${view.y - this.#view.y * scale}px)${by}`;
  }

  #fit({ size, pad, sharp }: Frame): void {
    const [width, height] = [Math.round((size.width + 2 * pad) * sharp), Math.round((size.height + 2 * pad) * sharp)];
    if (this.#element.width === width && this.#element.height === height && this.#pad === pad) return;
    this.#element.width = width;
    this.#element.height = height;
    Object.assign(this.#element.style, { left: `${-pad}px`, top: `${-pad}px`, width: `${size.width + 2 * pad}px`, height: `${size.height + 2 * pad}px`, transformOrigin: `${pad}px ${pad}px` });
  }
}
