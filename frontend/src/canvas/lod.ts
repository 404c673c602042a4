//! Level of detail: which nodes get elements, and which are only painted.

import { holds, inSight, type Rect, type Size, type View } from "./view";

/** `near`: visible nodes have elements with all details. `far`: all nodes are painted on one surface. */
export type Detail = "near" | "far";

/** Below this scale words are unreadable. Hysteresis prevents flickering at the threshold. */
const READABLE = { leave: 0.4, enter: 0.45 };

/** With more visible nodes than this, details are unreadable and elements would be slow. */
const MOST = 240;

/** The margin around the visible part that has elements too, in screen pixels. */
const MARGIN = 240;

/** The level of detail at a scale, given the previous one. `count` is the number of visible nodes. */
export function detailOf(before: Detail, zoom: number, count: number): Detail {
  if (count > MOST) return "far";
  return zoom < (before === "near" ? READABLE.leave : READABLE.enter) ? "far" : "near";
}

/** The part of the drawing whose nodes get elements. */
export function covered(view: View, size: Size): Rect {
  return inSight(view, size, MARGIN);
}

/** Whether the part with elements covers a view. */
export function isCovered(part: Rect, view: View, size: Size): boolean {
  return holds(part, inSight(view, size, MARGIN / 4));
}
