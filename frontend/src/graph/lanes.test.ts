import fc from "fast-check";
import { expect, test } from "vitest";
import { Lanes } from "./lanes";

const GAP = { low: 100, high: 160 };

test("edges through one gap lie beside each other, on the side that each comes from", () => {
  const lanes = new Lanes();
  const [middle, above, below] = [[130, 130], [130, 90], [130, 200]].map(([best = 0, wish = 0]) => lanes.take(0, 200, best, wish, GAP));
  expect([above, middle, below]).toEqual([123, 130, 137]);
  expect(lanes.take(300, 500, 130, 90, GAP), "behind them there is room again").toBe(130);
});

test("beside the last box a lane may lie as far out as it must", () => {
  const lanes = new Lanes();
  const taken = Array.from({ length: 12 }, () => lanes.take(0, 200, 100, 50, { low: 100, high: Infinity }));
  expect(taken).toEqual(Array.from({ length: 12 }, (_, at) => 100 + 7 * at));
});

const way = fc.record({
  from: fc.integer({ min: 0, max: 400 }), length: fc.integer({ min: 1, max: 300 }), wish: fc.integer({ min: 0, max: 300 }), share: fc.double({ min: 0, max: 1, noNaN: true }),
});
type Way = typeof way extends fc.Arbitrary<infer One> ? One : never;
const take = (lanes: Lanes, { from, length, wish, share }: Way, gap = GAP) => lanes.take(from, from + length, gap.low + share * (gap.high - gap.low), wish, gap);
const meet = (a: Way, b: Way) => a.from < b.from + b.length && b.from < a.from + a.length;

test("lanes stay in their gap, and those that meet are apart as long as there is room", () => {
  fc.assert(fc.property(fc.array(way, { maxLength: 7 }), (ways) => {
    const lanes = new Lanes();
    const taken = ways.map((one) => ({ one, at: take(lanes, one) }));
    for (const [index, { one, at }] of taken.entries()) {
      expect(at).toBeGreaterThanOrEqual(GAP.low);
      expect(at).toBeLessThanOrEqual(GAP.high);
      for (const other of taken.slice(0, index)) if (meet(one, other.one)) expect(Math.abs(at - other.at)).toBeGreaterThan(2.9);
    }
  }));
});

test("an edge that passes elsewhere changes no lane", () => {
  fc.assert(fc.property(fc.array(way, { maxLength: 12 }), fc.nat(12), way, (ways, at, other) => {
    const [without, with_] = [new Lanes(), new Lanes()];
    const before = ways.map((one) => take(without, one));
    const after = ways.map((one, index) => {
      if (index === at) take(with_, other, { low: GAP.low + 500, high: GAP.high + 500 });
      return take(with_, one);
    });
    expect(after).toEqual(before);
  }));
});
