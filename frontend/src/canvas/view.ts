//! What part of the drawing is in sight. A point p of the drawing is shown at p * zoom + (x, y).

import { ZOOM } from "./size";

/** A place and a scale. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** A rectangle of the drawing, or a box in it. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The size of the element that shows the drawing. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The point of the drawing that is shown at a point of the element. */
export function toDrawing(view: View, x: number, y: number): { x: number; y: number } {
  return { x: (x - view.x) / view.zoom, y: (y - view.y) / view.zoom };
}

/** The part of the drawing that is shown, with a margin in pixels of the screen around it. */
export function inSight(view: View, size: Size, margin = 0): Rect {
  const at = toDrawing(view, -margin, -margin);
  return { ...at, width: (size.width + 2 * margin) / view.zoom, height: (size.height + 2 * margin) / view.zoom };
}

/** Whether two rectangles have a point in common. */
export function touches(a: Rect, b: Rect): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}

/** Whether the first rectangle has the whole second one in it. */
export function holds(outer: Rect, inner: Rect): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    outer.x + outer.width >= inner.x + inner.width &&
    outer.y + outer.height >= inner.y + inner.height
  );
}

/** The smallest rectangle around some; `null` around none. */
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

/** The view that shows a part of the drawing as large as it goes, at most at `most`, in the middle. */
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

/** The view moved as little as needed to have a part of the drawing in sight, with a margin in pixels of the screen. */
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

/** A view on the way from one to another, 0 being the first and 1 the second: what both show at one place stays there. */
export function between(from: View, to: View, part: number): View {
  const zoom = from.zoom * (to.zoom / from.zoom) ** part;
  // Along with the scale the view shifts evenly; at one scale, with the way.
  const share = to.zoom === from.zoom ? part : (zoom - from.zoom) / (to.zoom - from.zoom);
  return { zoom, x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
