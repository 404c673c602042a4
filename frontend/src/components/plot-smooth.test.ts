import { expect, test } from "vitest";
import { smoothed } from "./plot-smooth";

test("a constant series stays as it is from its first value on", () => {
  for (const value of smoothed([3, 3, 3, 3], 0.9)) expect(value).toBeCloseTo(3, 12);
});

test("a value counts less the older it is", () => {
  const [first, second, third] = smoothed([1, 0, 0], 0.6);
  expect(first).toBeCloseTo(1, 12);
  expect(second).toBeCloseTo(0.24 / 0.64, 12);
  expect(third).toBeCloseTo(0.144 / 0.784, 12);
});

test("missing values stay missing, and do not count", () => {
  const smooth = smoothed([null, 1, null, 0], 0.6);
  expect([smooth[0], smooth[2]]).toEqual([null, null]);
  expect(smooth[3]).toBeCloseTo(0.24 / 0.64, 12);
});

test("without smoothing the values are the same", () => {
  expect(smoothed([1, null, 5], 0)).toEqual([1, null, 5]);
});
