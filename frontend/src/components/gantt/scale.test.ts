import { expect, test } from "vitest";
import { moved, pixel, stretched, ticks } from "./scale";

const whole = { from: 1_000_000, to: 1_100_000 };
const scale = { ...whole, width: 500 };

test("a stretched scale keeps the moment under the pointer, and never leaves the whole", () => {
  const closer = stretched(scale, 4, 250, whole);
  expect(pixel(closer, 1_050_000)).toBeCloseTo(250);
  expect(closer.to - closer.from).toBe(25_000);
  expect(stretched(closer, 0.01, 0, whole)).toEqual(scale);
  expect(moved(closer, -1e6, whole).from).toBe(whole.from);
});

test("ticks lie at round distances from the start", () => {
  expect(ticks(scale, whole.from, 90)).toEqual([0, 30, 60, 90]);
  expect(ticks({ from: whole.from + 200, to: whole.from + 900, width: 500 }, whole.from, 90)).toEqual([0.2, 0.4, 0.6, 0.8]);
});
