import fc from "fast-check";
import { expect, test } from "vitest";
import { bent, detour } from "./detour";
import { lanesOf } from "./lanes";
import { layOut } from "./layout";
import { pointAt, through, type Curve } from "./line";
import type { Direction, Point } from "./types";

interface Box { x: number; y: number; width: number; height: number }

const plain = (start: Point, end: Point, direction: Direction): Curve => through([start, end], direction)[0] ?? expect.fail();
const routed = (start: Point, end: Point, boxes: readonly Box[], direction: Direction): readonly Curve[] => {
  const passes = detour(start, end, plain(start, end, direction), boxes, direction);
  return passes ? bent(start, end, passes, lanesOf(passes), direction) : [plain(start, end, direction)];
};
const runsOver = (line: readonly Curve[], { x, y, width, height }: Box) =>
  line.some((piece) => Array.from({ length: 201 }, (_, at) => pointAt(piece, at / 200)).some(([atX, atY]) => atX > x && atX < x + width && atY > y && atY < y + height));

test("an edge in whose way nothing lies is a plain curve, and so is one that leads back", () => {
  const box: Box = { x: 300, y: 400, width: 224, height: 72 };
  expect(routed([0, 0], [1000, 40], [box], "right")).toHaveLength(1);
  expect(routed([1000, 436], [0, 436], [box], "right")).toHaveLength(1);
});

test("a box in the way is passed at its nearer side, in both directions of drawing", () => {
  const box: Box = { x: 300, y: -20, width: 224, height: 72 };
  const line = routed([0, 0], [800, 0], [box], "right");
  expect(line.map(([x, y]) => [x, y])).toEqual([[0, 0], [300, -28], [524, -28]]);
  const turned: Box = { x: -20, y: 300, width: 72, height: 224 };
  const down = routed([0, 0], [0, 800], [turned], "down");
  expect(down.map(([x, y]) => [x, y])).toEqual([[0, 0], [-28, 300], [-28, 524]]);
});

const anyBox = fc.record({ x: fc.integer({ min: 60, max: 1500 }), y: fc.integer({ min: -300, max: 300 }), width: fc.constant(224), height: fc.constant(72) });
const height = fc.integer({ min: -300, max: 300 });
const END = 1800;

/** Edges from left to right past the same boxes, each with its passes. */
function drawn(ends: readonly (readonly [number, number])[], boxes: readonly Box[]) {
  const ways = ends.map(([from, to]) => ({ start: [0, from] as Point, end: [END, to] as Point }));
  const found = ways.map(({ start, end }) => ({ start, end, passes: detour(start, end, plain(start, end, "right"), boxes, "right") }));
  const lanes = lanesOf(found.flatMap(({ passes }) => passes ?? []));
  return found.map(({ start, end, passes }) => ({ start, end, passes, line: passes ? bent(start, end, passes, lanes, "right") : [plain(start, end, "right")] }));
}

test("no edge runs over a box, wherever boxes lie in rows or anyhow", () => {
  fc.assert(fc.property(fc.array(anyBox, { maxLength: 12 }), fc.array(fc.tuple(height, height), { minLength: 1, maxLength: 8 }), (boxes, ends) => {
    for (const { start, end, line } of drawn(ends, boxes)) {
      expect(line[0]?.slice(0, 2)).toEqual(start);
      expect(line.at(-1)?.slice(6)).toEqual(end);
      if (line.length > 1) for (const one of boxes) expect(runsOver(line, one)).toBe(false);
      else for (const one of boxes) expect(runsOver(line, { x: one.x + 30, y: one.y + 10, width: one.width - 60, height: one.height - 20 })).toBe(false);
    }
  }));
});

test("edges that go through the same gaps cross only when their ends do", () => {
  fc.assert(fc.property(fc.array(anyBox, { minLength: 1, maxLength: 8 }), fc.uniqueArray(fc.tuple(height, height), { minLength: 2, maxLength: 8 }), (boxes, ends) => {
    const lines = drawn(ends, boxes).filter(({ passes }) => passes !== null);
    for (const [index, a] of lines.entries()) {
      for (const b of lines.slice(0, index)) {
        const same = (a.passes ?? []).every((pass, at) => pass.low === b.passes?.[at]?.low && pass.high === b.passes[at].high);
        const order = Math.sign(a.start[1] - b.start[1]) + Math.sign(a.end[1] - b.end[1]);
        if (!same || Math.abs(order) < 1) continue;
        const heights = (line: readonly Curve[]) => line.map((piece) => piece[1]);
        const [ours, theirs] = [heights(a.line), heights(b.line)];
        for (const [at, y] of ours.entries()) expect(Math.sign(y - (theirs[at] ?? y)) * Math.sign(order)).toBeGreaterThanOrEqual(0);
      }
    }
  }), { numRuns: 500 });
});

test("in a layout of its own, a long edge passes between the nodes", () => {
  const boxes = ["a", "b", "c", "d", "e"].map((id) => ({ id, width: 224, height: 72 }));
  const edges = [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["a", "d"], ["d", "e"], ["a", "e"]].map(([from = "", to = ""]) => ({ from, to }));
  const { nodes, edges: lines } = layOut(boxes, edges, "right");
  for (const { from, to, points } of lines) {
    const others = [...nodes.values()].filter(({ id }) => id !== from && id !== to);
    const line = routed(points[0] ?? expect.fail(), points.at(-1) ?? expect.fail(), others, "right");
    for (const other of others) expect(runsOver(line, other)).toBe(false);
  }
});
