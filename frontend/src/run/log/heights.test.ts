import { expect, it } from "vitest";

import { Heights } from "./heights";

/** A slow reference implementation. */
function slowly(rows: readonly number[]): { top: number[]; line: number[] } {
  const line: number[] = [];
  const top = [0];
  rows.forEach((height, at) => {
    for (let row = 0; row < height; row += 1) line.push(at);
    top.push((top[at] ?? 0) + height);
  });
  return { top, line };
}

function same(heights: Heights, rows: readonly number[]): void {
  const { top, line } = slowly(rows);
  expect(heights.count).toBe(rows.length);
  top.forEach((row, at) => { expect(heights.top(at)).toBe(row); });
  line.forEach((at, row) => { expect(heights.lineAt(row)).toBe(at); });
}

it("finds lines by rows, whether they were given at once or one by one", () => {
  const rows = Array.from({ length: 137 }, (_, at) => 1 + ((at * 7) % 5));
  const atOnce = new Heights();
  atOnce.reset([...rows]);
  same(atOnce, rows);
  const oneByOne = new Heights();
  rows.forEach((height) => { oneByOne.push(height); });
  same(oneByOne, rows);
});

it("follows changes", () => {
  const heights = new Heights();
  heights.reset([1, 1, 1]);
  heights.set(1, 4);
  heights.push(2);
  same(heights, [1, 4, 1, 2]);
  expect(heights.total).toBe(8);
});

it("gives the last line for what is beyond", () => {
  const heights = new Heights();
  expect(heights.lineAt(5)).toBe(0);
  heights.reset([1, 2]);
  expect(heights.lineAt(99)).toBe(1);
});
