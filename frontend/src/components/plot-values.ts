//! The values of series at a position, and the place of the tooltip with them. Pure.

import type { PlotSeries } from "./plot-options";

/** With more rows than this, the largest value comes first. */
const UNSORTED = 3;

/** A row of a tooltip; `at` is the position of the series. */
export interface Row {
  readonly at: number;
  readonly value: number;
}

/**
 * The value of a series at x. Workers report at slightly different times: the nearest value counts, up to the
 * usual distance between two values beyond the ends.
 */
export function valueAt({ x, y, stepped, marks }: PlotSeries, at: number): number | null {
  const before = x.findLastIndex((one) => one <= at);
  const [left, right] = [x[before], x[before + 1]];
  if (left === at) return y[before] ?? null;
  if (marks) return null;
  const beyond = left === undefined || right === undefined;
  if (beyond && Math.abs(at - (left ?? right ?? Infinity)) > spacing(x)) return null;
  if (stepped && left !== undefined) return y[before] ?? null;
  const nearest = left === undefined || (right !== undefined && right - at < at - left) ? before + 1 : before;
  return y[nearest] ?? null;
}

/** The mean distance between neighbours. */
function spacing(x: readonly number[]): number {
  const [first = 0, last = 0] = [x[0], x.at(-1)];
  return x.length < 2 ? 0 : (last - first) / (x.length - 1);
}

/** The series that have a value at x, by value when there are many. */
export function rowsAt(series: readonly PlotSeries[], x: number): Row[] {
  const rows = series.flatMap((one, at): Row[] => {
    const value = valueAt(one, x);
    return value === null ? [] : [{ at, value }];
  });
  return rows.length > UNSORTED ? rows.sort((a, b) => b.value - a.value) : rows;
}

/** A series with its only value. */
export interface Single {
  readonly at: number;
  readonly x: number;
  readonly value: number;
}

/** The values of series that have one value each; empty if any series has more. */
export function singles(series: readonly PlotSeries[]): Single[] {
  if (series.some(({ x }) => x.length > 1)) return [];
  return series.flatMap(({ x: [x], y: [value] }, at) => (x === undefined || value == null ? [] : [{ at, x, value }]));
}

/** Whether a logarithmic scale can show all values. */
export function positive(series: readonly PlotSeries[]): boolean {
  return series.every(({ y }) => y.every((value) => value === null || value > 0));
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Distance of a tooltip from the cursor, in pixels. */
const AWAY = 12;

/** The top left corner of a tooltip: right of the cursor, or else left of it, and inside the box. */
export function placed(cursor: { readonly left: number; readonly top: number }, tip: Size, box: Size): { left: number; top: number } {
  const right = cursor.left + AWAY;
  const left = right + tip.width <= box.width ? right : cursor.left - AWAY - tip.width;
  const within = (wanted: number, room: number) => Math.max(0, Math.min(wanted, room));
  return { left: within(left, box.width - tip.width), top: within(cursor.top - tip.height / 2, box.height - tip.height) };
}
