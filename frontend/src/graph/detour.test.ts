import fc from "fast-check";
import { expect, test } from "vitest";
import { routed } from "./detour";
import { Lanes } from "./lanes";
import { layOut } from "./layout";
import { pointAt, through, type Curve } from "./line";
import type { Direction, Point } from "./types";

interface Box { x: number; y: number; width: number; height: number }

const plain = (start: Point, end: Point, direction: Direction): Curve => through([start, end], direction)[0] ?? expect.fail();
const runsOver = (line: readonly Curve[], { x, y, width, height }: Box) =>
  line.some((piece) => Array.from({ length: 201 }, (_, at) => pointAt(piece, at / 200)).some(([atX, atY]) => atX > x && atX < x + width && atY > y && atY < y + height));

test("an edge in whose way nothing lies is a plain curve, and so is one that leads back", () => {
  const box: Box = { x: 300, y: 400, width: 224, height: 72 };
  expect(routed([0, 0], [1000, 40], plain([0, 0], [1000, 40], "right"), [box], "right", new Lanes())).toHaveLength(1);
  expect(routed([1000, 436], [0, 436], plain([1000, 436], [0, 436], "right"), [box], "right", new Lanes())).toHaveLength(1);
});

test("a box in the way is passed at its nearer side, in both directions of drawing", () => {
  const box: Box = { x: 300, y: -20, width: 224, height: 72 };
  const line = routed([0, 0], [800, 0], plain([0, 0], [800, 0], "right"), [box], "right", new Lanes());
  expect(line.map(([x, y]) => [x, y])).toEqual([[0, 0], [300, -28], [524, -28]]);
  const turned: Box = { x: -20, y: 300, width: 72, height: 224 };
  const down = routed([0, 0], [0, 800], plain([0, 0], [0, 800], "down"), [turned], "down", new Lanes());
  expect(down.map(([x, y]) => [x, y])).toEqual([[0, 0], [-28, 300], [-28, 524]]);
});

test("no edge runs over a box, wherever boxes lie in rows or anyhow", () => {
  const box = fc.record({ x: fc.integer({ min: 60, max: 1500 }), y: fc.integer({ min: -300, max: 300 }), width: fc.constant(224), height: fc.constant(72) });
  fc.assert(fc.property(fc.array(box, { maxLength: 12 }), fc.integer({ min: -300, max: 300 }), (boxes, high) => {
    const [start, end]: [Point, Point] = [[0, 0], [1800, high]];
    const lanes = new Lanes();
    for (let edge = 0; edge < 3; edge += 1) {
      const line = routed(start, end, plain(start, end, "right"), boxes, "right", lanes);
      expect(line[0]?.slice(0, 2)).toEqual(start);
      expect(line.at(-1)?.slice(6)).toEqual(end);
      if (line.length > 1) for (const one of boxes) expect(runsOver(line, one)).toBe(false);
      else for (const one of boxes) expect(runsOver(line, { x: one.x + 30, y: one.y + 10, width: one.width - 60, height: one.height - 20 })).toBe(false);
    }
  }));
});

test("in a layout of its own, a long edge passes between the nodes", () => {
  const boxes = ["a", "b", "c", "d", "e"].map((id) => ({ id, width: 224, height: 72 }));
  const edges = [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["a", "d"], ["d", "e"], ["a", "e"]].map(([from = "", to = ""]) => ({ from, to }));
  const { nodes, edges: lines } = layOut(boxes, edges, "right");
  const lanes = new Lanes();
  for (const { from, to, points } of lines) {
    const [start, end] = [points[0] ?? expect.fail(), points.at(-1) ?? expect.fail()];
    const others = [...nodes.values()].filter(({ id }) => id !== from && id !== to);
    const line = routed(start, end, plain(start, end, "right"), others, "right", lanes);
    for (const other of others) expect(runsOver(line, other)).toBe(false);
  }
});
