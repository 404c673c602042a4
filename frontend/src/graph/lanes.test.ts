import fc from "fast-check";
import { expect, test } from "vitest";
import { lanesOf, type Pass } from "./lanes";

const GAP = { low: 100, high: 160 };
const pass = (more: Partial<Pass>): Pass => ({ from: 0, to: 200, best: 130, before: 130, after: 130, ends: 260, ...GAP, ...more });
const placed = (...passes: Pass[]) => {
  const lanes = lanesOf(passes);
  return passes.map((one) => lanes.get(one) ?? expect.fail());
};

test("an edge that is alone lies where it would like to, and behind others there is room again", () => {
  expect(placed(pass({ best: 117 }))).toEqual([117]);
  expect(placed(pass({}), pass({ from: 200, to: 400 }))).toEqual([130, 130]);
});

test("edges through one gap lie beside each other, in the order in which they come and go", () => {
  const [low, middle, high] = [{ before: 0, after: 50 }, { before: 90, after: 60 }, { before: 90, after: 200 }].map(pass);
  expect(placed(high ?? pass({}), low ?? pass({}), middle ?? pass({}))).toEqual([137, 123, 130]);
});

test("beside the last box a lane may lie as far out as it must, and a crowded gap is shared evenly", () => {
  const twelve = Array.from({ length: 12 }, (_, index) => ({ before: index, best: 100 }));
  expect(placed(...twelve.map((one) => pass({ ...one, high: Infinity })))).toEqual(twelve.map((_, index) => 100 + 7 * index));
  expect(placed(...twelve.map((one) => pass({ ...one, high: 122 })))).toEqual(twelve.map((_, index) => 100 + 2 * index));
});

const way = fc.record({
  from: fc.integer({ min: 0, max: 400 }), length: fc.integer({ min: 1, max: 300 }), best: fc.integer({ min: GAP.low, max: GAP.high }),
  before: fc.integer({ min: 0, max: 300 }), after: fc.integer({ min: 0, max: 300 }),
}).map(({ from, length, ...rest }) => pass({ from, to: from + length, ends: rest.before + rest.after, ...rest }));
const ways = fc.array(way, { maxLength: 8 });
const meet = (a: Pass, b: Pass) => a.from < b.to && b.from < a.to;

test("lanes stay in their gap, and those that meet are apart", () => {
  fc.assert(fc.property(ways, (passes) => {
    const lanes = placed(...passes);
    for (const [index, at] of lanes.entries()) {
      expect(at).toBeGreaterThanOrEqual(GAP.low);
      expect(at).toBeLessThanOrEqual(GAP.high);
      const one = passes[index] ?? expect.fail();
      for (const [other, its] of lanes.slice(0, index).entries()) if (meet(one, passes[other] ?? expect.fail())) expect(Math.abs(at - its)).toBeGreaterThan(6.9);
    }
  }));
});

test("edges with one wish that meet cross only when they have to", () => {
  fc.assert(fc.property(ways, (some) => {
    const passes = some.map((one) => ({ ...one, best: 130 }));
    const lanes = placed(...passes);
    for (const [index, a] of passes.entries()) {
      for (const [other, b] of passes.entries()) {
        if (meet(a, b) && a.before < b.before && a.after < b.after) expect(lanes[index]).toBeLessThan(lanes[other] ?? expect.fail());
      }
    }
  }));
});

test("the order in which edges are told decides nothing, nor does an edge that passes elsewhere", () => {
  fc.assert(fc.property(fc.uniqueArray(way, { maxLength: 12, comparator: (a, b) => a.ends === b.ends && a.before === b.before }), way, (passes, other) => {
    const lanes = lanesOf(passes);
    const again = lanesOf([{ ...other, low: GAP.low + 500, high: GAP.high + 500, best: other.best + 500 }, ...passes.toReversed()]);
    for (const one of passes) expect(again.get(one)).toBeCloseTo(lanes.get(one) ?? NaN, 6);
  }));
});
