//! Routes an edge around foreign boxes: between its ends it passes each column of boxes through the free gap
//! nearest to the straight line, like long edges of a layout.

import type { Gap, Pass } from "./lanes";
import { pointAt, through, type Curve } from "./line";
import type { Direction, Point } from "./types";

/** An obstacle on the drawing. */
export interface Block {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The distances of an edge from a box, in pixels: beside it, and where it starts to turn. */
const CLEAR = { beside: 8, before: 12 } as const;

/** A narrower gap, in pixels, is passed in its middle. */
const NARROW = 40;

/** How many points of a curve are tested: the distance between two is less than a box's width. */
const STEPS = 48;

/** A box's extent along the edge and across it. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Where an edge must pass boxes because its plain curve would cross one of them. `null` if there is no
 * obstacle, and for a backward edge. The boxes at its own ends are excluded.
 */
export function detour(start: Point, end: Point, plain: Curve, boxes: Iterable<Block>, direction: Direction): Pass[] | null {
  const [[from, low], [to, high]] = direction === "right" ? [start, end] : [turned(start), turned(end)];
  if (to - from < 2 * CLEAR.before) return null;
  const between = [...boxes].filter(({ x, y, width, height }) => {
    const [first, last] = direction === "right" ? [x, x + width] : [y, y + height];
    return last > from + 1 && first < to - 1;
  });
  if (!runsOver(plain, between)) return null;
  const ways: (Gap & { from: number; to: number; best: number })[] = [];
  let [at, across] = [from, low];
  for (const column of columnsOf(between.map((box) => spanOf(box, direction)), from, to)) {
    const middle = (column.from + column.to) / 2;
    const wish = across + ((high - across) * (middle - at)) / Math.max(1, to - at);
    const gap = nearestGap(column.spans, wish);
    ways.push({ from: column.from, to: column.to, ...gap });
    [at, across] = [column.to, gap.best];
  }
  return ways.map((way, index): Pass => ({ ...way, before: ways[index - 1]?.best ?? low, after: ways[index + 1]?.best ?? high, ends: low + high }));
}

/** The path of an edge that passes boxes in its assigned lanes. */
export function bent(start: Point, end: Point, passes: readonly Pass[], lanes: ReadonlyMap<Pass, number>, direction: Direction): Curve[] {
  const bends = passes.flatMap((pass): Point[] => {
    const at = lanes.get(pass) ?? pass.best;
    return [[pass.from, at], [pass.to, at]];
  });
  return through([start, ...(direction === "right" ? bends : bends.map(turned)), end], direction);
}

/** Whether a curve crosses one of the boxes. */
export function runsOver(curve: Curve, boxes: Iterable<Block>): boolean {
  const bounds = boundsOf(curve);
  for (const box of boxes) if (box.y < bounds.bottom && box.y + box.height > bounds.top && crosses(curve, box)) return true;
  return false;
}

function turned([x, y]: Point): Point {
  return [y, x];
}

function spanOf({ x, y, width, height }: Block, direction: Direction): Span {
  return direction === "right"
    ? { from: x, to: x + width, low: y - CLEAR.beside, high: y + height + CLEAR.beside }
    : { from: y, to: y + height, low: x - CLEAR.beside, high: x + width + CLEAR.beside };
}

interface Column {
  from: number;
  to: number;
  readonly spans: Span[];
}

// Boxes that overlap along the edge are passed together.
function columnsOf(spans: readonly Span[], from: number, to: number): Column[] {
  const columns: Column[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const [begin, end] = [Math.max(from + CLEAR.before, span.from), Math.min(to - CLEAR.before, span.to)];
    const last = columns.at(-1);
    if (last && begin < last.to + CLEAR.before) {
      last.to = Math.max(last.to, end);
      last.spans.push(span);
    } else columns.push({ from: begin, to: Math.max(begin, end), spans: [span] });
  }
  return columns;
}

// Beyond the outermost box everything is free, so there is always a gap. A narrow one is passed in its
// middle.
function nearestGap(spans: readonly Span[], wish: number): Gap & { best: number } {
  const edges = spans.flatMap(({ low, high }) => [low, high]);
  const free = [wish, ...edges].filter((at) => spans.every(({ low, high }) => at <= low || at >= high));
  const best = free.reduce((nearest, at) => (Math.abs(at - wish) < Math.abs(nearest - wish) ? at : nearest), free[0] ?? wish);
  const [low, high] = [Math.max(...spans.map((span) => span.high).filter((at) => at <= best)), Math.min(...spans.map((span) => span.low).filter((at) => at >= best))];
  return { low, high, best: high - low < NARROW ? (low + high) / 2 : best };
}

function boundsOf([, y1, , y2, , y3, , y4]: Curve): { top: number; bottom: number } {
  return { top: Math.min(y1, y2, y3, y4), bottom: Math.max(y1, y2, y3, y4) };
}

function crosses(curve: Curve, { x, y, width, height }: Block): boolean {
  for (let step = 0; step <= STEPS; step += 1) {
    const [atX, atY] = pointAt(curve, step / STEPS);
    if (atX > x && atX < x + width && atY > y && atY < y + height) return true;
  }
  return false;
}
