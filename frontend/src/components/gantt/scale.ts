//! A time axis: the position of a moment, and the ticks.

/** A time range in milliseconds since the epoch, and its width in pixels. */
export interface TimeScale {
  from: number;
  to: number;
  width: number;
}

/** The x coordinate of a moment, in pixels. */
export function pixel(scale: TimeScale, moment: number): number {
  return ((moment - scale.from) / Math.max(1, scale.to - scale.from)) * scale.width;
}

/** The scale zoomed by a factor around a pixel, within `whole`. */
export function stretched(scale: TimeScale, factor: number, at: number, whole: { from: number; to: number }): TimeScale {
  const least = 1000;
  const length = Math.min(whole.to - whole.from, Math.max(least, (scale.to - scale.from) / factor));
  const centre = scale.from + (at / Math.max(1, scale.width)) * (scale.to - scale.from);
  const from = centre - (at / Math.max(1, scale.width)) * length;
  return inside({ ...scale, from, to: from + length }, whole);
}

/** The scale panned by pixels, within `whole`. */
export function moved(scale: TimeScale, by: number, whole: { from: number; to: number }): TimeScale {
  const time = (by / Math.max(1, scale.width)) * (scale.to - scale.from);
  return inside({ ...scale, from: scale.from + time, to: scale.to + time }, whole);
}

function inside(scale: TimeScale, whole: { from: number; to: number }): TimeScale {
  const length = Math.min(scale.to - scale.from, whole.to - whole.from);
  const from = Math.min(Math.max(scale.from, whole.from), whole.to - length);
  return { ...scale, from, to: from + length };
}

const SECOND = 1000;
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800];

/** Ticks at round intervals from `origin`, about `every` pixels apart: seconds since the origin. */
export function ticks(scale: TimeScale, origin: number, every: number): number[] {
  const wanted = ((scale.to - scale.from) / SECOND) * (every / Math.max(1, scale.width));
  const step = STEPS.find((step) => step >= wanted) ?? Math.ceil(wanted / 604_800) * 604_800;
  const first = Math.ceil((scale.from - origin) / SECOND / step);
  const last = Math.floor((scale.to - origin) / SECOND / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => Math.round((first + index) * step * 10) / 10);
}
