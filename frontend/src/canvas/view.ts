//! The visible part of the drawing. A point p of the drawing is shown at p * zoom + (x, y).

import { ZOOM } from "./size";

/** A translation and a scale. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** A rectangle in drawing coordinates. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The size of the canvas element. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Converts a point of the element to drawing coordinates. */
export function toDrawing(view: View, x: number, y: number): { x: number; y: number } {
  return { x: (x - view.x) / view.zoom, y: (y - view.y) / view.zoom };
}

/** The visible part of the drawing, with a margin in screen pixels. */
export function inSight(view: View, size: Size, margin = 0): Rect {
  const at = toDrawing(view, -margin, -margin);
  return { ...at, width: (size.width + 2 * margin) / view.zoom, height: (size.height + 2 * margin) / view.zoom };
}

/** Whether two rectangles intersect. */
export function touches(a: Rect, b: Rect): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}

/** Whether the first rectangle contains the second. */
export function holds(outer: Rect, inner: Rect): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    outer.x + outer.width >= inner.x + inner.width &&
    outer.y + outer.height >= inner.y + inner.height
  );
}

/** The bounding box of rectangles; `null` for none. */
export function around(rects: Iterable<Rect>): Rect | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const rect of rects) {
    left = Math.min(left, rect.x);
    top = Math.min(top, rect.y);
    right = Math.max(right, rect.x + rect.width);
    bottom = Math.max(bottom, rect.y + rect.height);
  }
  return left === Infinity ? null : { x: left, y: top, width: right - left, height: bottom - top };
}

/** The view that shows a part of the drawing centred and as large as possible, at most at scale `most`. */
export function fitted(part: Rect, size: Size, most = 1, margin = 48): View {
  const across = (size.width - 2 * margin) / Math.max(1, part.width);
  const down = (size.height - 2 * margin) / Math.max(1, part.height);
  const zoom = Math.min(most, Math.max(ZOOM.least, Math.min(across, down)));
  return {
    zoom,
    x: (size.width - part.width * zoom) / 2 - part.x * zoom,
    y: (size.height - part.height * zoom) / 2 - part.y * zoom,
  };
}

/** The view panned as little as needed to show a part of the drawing, with a margin in screen pixels. */
export function revealed(view: View, part: Rect, size: Size, margin = 40): View {
  const shift = (at: number, length: number, room: number) => {
    if (length + 2 * margin > room || at < margin) return margin - at;
    return Math.min(0, room - margin - (at + length));
  };
  return {
    zoom: view.zoom,
    x: view.x + shift(part.x * view.zoom + view.x, part.width * view.zoom, size.width),
    y: view.y + shift(part.y * view.zoom + view.y, part.height * view.zoom, size.height),
  };
}

/** A view between two others, from 0 to 1. A point shown at the same position in both stays there. */
export function between(from: View, to: View, part: number): View {
  const zoom = from.zoom * (to.zoom / from.zoom) ** part;
  // If the scale changes, the translation is linear in the scale, else in the fraction.
  const share = to.zoom === from.zoom ? part : (zoom - from.zoom) / (to.zoom - from.zoom);
  return { zoom, x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
