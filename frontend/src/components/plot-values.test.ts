import { expect, test } from "vitest";
import { placed, positive, rowsAt, singles, valueAt } from "./plot-values";

const line = (x: number[], y: (number | null)[], more = {}) => ({ label: "one", x, y, ...more });

test("a value is the nearest one, and none is invented", () => {
  const series = line([0, 10, 20], [1, null, 3]);
  expect([0, 4, 10, 16, 20].map((x) => valueAt(series, x))).toEqual([1, 1, null, 3, 3]);
  // Another worker's samples begin earlier and end later, by less than the distance of two samples.
  expect([-30, -4, 24, 50].map((x) => valueAt(series, x))).toEqual([null, 1, 3, null]);
  expect(valueAt(line([], []), 1)).toBeNull();
  expect([4, 5].map((x) => valueAt(line([5], [7]), x))).toEqual([null, 7]);
});

test("a limit holds until it changes, and a mark is a single point", () => {
  expect([1, 9, 10].map((x) => valueAt(line([0, 10, 20], [1, 2, 2], { stepped: true }), x))).toEqual([1, 1, 2]);
  expect([4, 5].map((x) => valueAt(line([1, 5], [1, 2], { marks: true }), x))).toEqual([null, 2]);
});

test("more than three rows are sorted by value, and fewer keep their order", () => {
  const at = (...values: number[]) => rowsAt(values.map((value) => line([1], [value])), 1).map(({ value }) => value);
  expect(at(1, 3, 2)).toEqual([1, 3, 2]);
  expect(at(1, 3, 2, 5)).toEqual([5, 3, 2, 1]);
  expect(rowsAt([line([1], [null]), line([1], [4])], 1)).toEqual([{ at: 1, value: 4 }]);
});

test("only series with one value each are numbers", () => {
  expect(singles([line([7], [0.5]), line([], []), line([9], [2])])).toEqual([{ at: 0, x: 7, value: 0.5 }, { at: 2, x: 9, value: 2 }]);
  expect(singles([line([7], [0.5]), line([1, 2], [1, 2])])).toEqual([]);
  expect(singles([line([], [])])).toEqual([]);
});

test("zero has no place on a logarithmic scale", () => {
  expect(positive([line([1, 2], [1, null])])).toBe(true);
  expect(positive([line([1, 2], [1, 0])])).toBe(false);
});

test("a tooltip is beside the cursor and stays in the box", () => {
  const [tip, box] = [{ width: 100, height: 40 }, { width: 300, height: 200 }];
  expect(placed({ left: 50, top: 100 }, tip, box)).toEqual({ left: 62, top: 80 });
  expect(placed({ left: 250, top: 100 }, tip, box)).toEqual({ left: 138, top: 80 });
  expect(placed({ left: 60, top: 195 }, tip, { width: 120, height: 200 })).toEqual({ left: 0, top: 160 });
  expect(placed({ left: 50, top: 5 }, { width: 100, height: 300 }, box)).toEqual({ left: 62, top: 0 });
});
