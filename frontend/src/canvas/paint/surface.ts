//! A surface that shows a picture of the part in sight and some room around it, so that the picture can be moved along
//! with the view for a while instead of being drawn anew.

import type { Size, View } from "../view";

/** What draws a picture. */
export type Drawn = CanvasRenderingContext2D;

/** How a picture is drawn. */
export interface Frame {
  readonly view: View;
  /** Of what is in sight. */
  readonly size: Size;
  /** The room around it, in pixels of the screen. */
  readonly pad: number;
  /** How many pixels of the picture one of the screen has. */
  readonly sharp: number;
}

/** A canvas element and the view that its picture is of. */
export class Surface {
  readonly #element: HTMLCanvasElement;
  #view: View | null = null;
  #pad = 0;

  constructor(element: HTMLCanvasElement) {
    this.#element = element;
  }

  /** The scale of the picture; `null` before the first. */
  get zoom(): number | null {
    return this.#view?.zoom ?? null;
  }

  /** Shows what `draw` draws, whose unit is a pixel of the drawing. */
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

  /** Shows nothing. A picture that is empty would be copied with every frame of the page all the same. */
  hide(): void {
    this.#element.hidden = true;
  }

  /** Whether the picture has everything that a view of the same scale shows. */
  reaches(view: View): boolean {
    if (this.#view?.zoom !== view.zoom) return false;
    return Math.abs(view.x - this.#view.x) <= this.#pad && Math.abs(view.y - this.#view.y) <= this.#pad;
  }

  /** Whether the picture, moved and scaled to a view, leaves no part of what is in sight empty. */
  fills(view: View, { width, height }: Size): boolean {
    if (!this.#view) return false;
    const scale = view.zoom / this.#view.zoom;
    const [left, top] = [view.x - (this.#view.x + this.#pad) * scale, view.y - (this.#view.y + this.#pad) * scale];
    return left <= 0 && top <= 0 && left + (width + 2 * this.#pad) * scale >= width && top + (height + 2 * this.#pad) * scale >= height;
  }

  /** Moves and scales the picture that is there to where a view has it. */
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
