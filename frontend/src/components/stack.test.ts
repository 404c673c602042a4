import { expect, test } from "vitest";
import { stacked } from "./stack";

test("each series begins where the one below ends", () => {
  expect(stacked([[1, 2, null], [3, 0, null], [1, null, null]])).toEqual([[1, 2, null], [4, 2, null], [5, null, null]]);
  expect(stacked([])).toEqual([]);
});
