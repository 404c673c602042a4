//! How much is shown: which nodes get elements, and which are only drawn.

import { holds, inSight, type Rect, type Size, type View } from "./view";

/** `near`: nodes in sight have elements that say everything. `far`: all nodes are drawn on one surface. */
export type Detail = "near" | "far";

/** Below this scale words cannot be read. Coming back takes a little more, so that nothing flickers at the border. */
const READABLE = { leave: 0.4, enter: 0.45 };

/** With more nodes than this in sight nobody reads them, and elements would be slow. */
const MOST = 240;

/** The margin around what is in sight that has elements too, in pixels of the screen. */
const MARGIN = 240;

/** How much is shown at a scale, after what was shown before. `count` is how many nodes are in sight. */
export function detailOf(before: Detail, zoom: number, count: number): Detail {
  if (count > MOST) return "far";
  return zoom < (before === "near" ? READABLE.leave : READABLE.enter) ? "far" : "near";
}

/** The part of the drawing whose nodes get elements. */
export function covered(view: View, size: Size): Rect {
  return inSight(view, size, MARGIN);
}

/** Whether what had elements is enough for a view. */
export function isCovered(part: Rect, view: View, size: Size): boolean {
  return holds(part, inSight(view, size, MARGIN / 4));
}
