import { expect, it } from "vitest";

import { expression, matching, spans } from "./search";

const lines = ["loading data", "\u001b[31mError\u001b[0m: a.b", "error again, error", "done"];
const at = (index: number): string => lines[index] ?? "";
const find = (text: string, pattern = false): number[] => {
  const wanted = expression({ text, pattern });
  return wanted === undefined ? [] : matching(at, 0, lines.length, wanted);
};

it("does not regard case unless there are capitals", () => {
  expect(find("error")).toEqual([1, 2]);
  expect(find("Error")).toEqual([1]);
});

it("takes signs as they are, unless it is a pattern", () => {
  expect(find("a.b")).toEqual([1]);
  expect(find("^d|g$")).toEqual([]);
  expect(find("^d|data$", true)).toEqual([0, 3]);
  expect(find("(", true)).toEqual([]);
});

it("looks through colours", () => {
  expect(find("error: a")).toEqual([1]);
});

it("says where in a line, and skips empty matches", () => {
  const wanted = expression({ text: "error", pattern: false });
  expect(wanted && spans("error again, error", wanted)).toEqual([{ from: 0, to: 5 }, { from: 13, to: 18 }]);
  expect(spans("abc", /x*/g)).toEqual([]);
});
