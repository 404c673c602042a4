import { expect, test } from "vitest";
import { heatAt, heatLayout, heatSeen, heatStep, ROW } from "./heat-layout";

test("a cell is found where it is, and nothing beside the cells", () => {
  const of = heatLayout(3, 10, 1130);
  expect([of.label, of.wide, of.height]).toEqual([130, 100, 3 * ROW]);
  expect(heatAt(of, 131, 1)).toEqual({ row: 0, column: 0 });
  expect(heatAt(of, 1129, 3 * ROW - 1)).toEqual({ row: 2, column: 9 });
  expect(heatAt(of, 129, 1)).toBeNull();
  expect(heatAt(of, 500, 3 * ROW)).toBeNull();
  // On a phone the names leave most of the width to the cells.
  expect(heatLayout(3, 10, 300).label).toBe(100);
});

test("keys go over all cells, and stop at the edges", () => {
  const of = heatLayout(2, 3, 600);
  let spot = heatStep(of, null, "ArrowRight");
  expect(spot).toEqual({ row: 0, column: 2 });
  for (const [key, row, column] of [["ArrowRight", 0, 2], ["ArrowLeft", 0, 1], ["ArrowDown", 1, 1], ["ArrowDown", 1, 1], ["Home", 1, 0], ["End", 1, 2], ["ArrowUp", 0, 2], ["x", 0, 2]] as const) {
    spot = heatStep(of, spot, key);
    expect(spot, key).toEqual({ row, column });
  }
  expect(heatStep(heatLayout(0, 3, 600), null, "End")).toBeNull();
});

test("only rows that are seen are painted", () => {
  const of = heatLayout(1000, 96, 1200);
  expect(heatSeen(of, 100 * ROW + 3, 120 * ROW)).toEqual([100, 120]);
  expect(heatSeen(of, 999 * ROW, 2000 * ROW)).toEqual([999, 1000]);
});
