//! The visible part of a drawing: panned by dragging, zoomed by buttons, keys and Ctrl with the wheel.

/** A translation and a scale: a point p of the drawing is shown at p * scale + (x, y). */
export interface View {
  x: number;
  y: number;
  scale: number;
}

/** The smallest and the largest scale. */
export const SCALES = { least: 0.03, most: 2 };
const STEP = 1.25;

/** The view that shows a whole drawing in a box, at scales from `least` to 1. */
export function fitted(drawing: { width: number; height: number }, box: { width: number; height: number }, least: number = SCALES.least): View {
  const margin = 24;
  const across = (box.width - 2 * margin) / Math.max(1, drawing.width);
  const down = (box.height - 2 * margin) / Math.max(1, drawing.height);
  const scale = Math.max(least, Math.min(1, across, down));
  const place = (room: number, size: number) => (size * scale + 2 * margin > room ? margin : (room - size * scale) / 2);
  return { scale, x: place(box.width, drawing.width), y: place(box.height, drawing.height) };
}

/** The view zoomed by a factor around a point of the box. */
export function zoomed(view: View, factor: number, at: { x: number; y: number }): View {
  const scale = Math.min(SCALES.most, Math.max(SCALES.least, view.scale * factor));
  const by = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by };
}

/** Calls `change` with a new view for user input in the box. */
export function watchView(box: Element, view: () => View, change: (view: View) => void): void {
  let from: { x: number; y: number; view: View } | undefined;
  box.addEventListener("pointerdown", (event) => {
    if (!(event instanceof PointerEvent) || event.button !== 0) return;
    from = { x: event.clientX, y: event.clientY, view: view() };
  });
  box.addEventListener("pointermove", (event) => {
    if (!from || !(event instanceof PointerEvent)) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    // The movement tolerance of a click.
    if (!box.hasPointerCapture(event.pointerId) && Math.hypot(x, y) < 4) return;
    box.setPointerCapture(event.pointerId);
    change({ ...from.view, x: from.view.x + x, y: from.view.y + y });
  });
  const end = () => { from = undefined; };
  box.addEventListener("pointerup", end);
  box.addEventListener("pointercancel", end);
  box.addEventListener("wheel", (event) => {
    if (!(event instanceof WheelEvent) || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    const place = box.getBoundingClientRect();
    const at = { x: event.clientX - place.left, y: event.clientY - place.top };
    change(zoomed(view(), Math.exp(-event.deltaY / 240), at));
  }, { passive: false });
}

/** The zoom factor of the keys `+` and `-`. */
export function factorOf(key: string): number | undefined {
  if (key === "+" || key === "=") return STEP;
  return key === "-" ? 1 / STEP : undefined;
}
