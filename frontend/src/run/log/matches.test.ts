import { expect, it } from "vitest";

import { Lines } from "./lines";
import { compare, matchAt, merged, nearest, type Match } from "./matches";

const match = (worker: number, offset: number, at?: number): Match => {
  return { worker: `worker-${worker}`, stream: "stdout", offset, at, line: undefined, text: "", cursor: "" };
};

it("makes a match of a loaded line", () => {
  const lines = new Lines();
  const source = { worker: "worker-0", stream: "stderr" };
  lines.append({ ...source, offset: 0, text: "one\ntwo\n", times: [{ line: 0, at: "2026-01-31T12:00:00Z" }] }, "start");
  expect(matchAt(lines, 1)).toEqual({ ...source, offset: 4, line: 2, text: "two", at: Date.UTC(2026, 0, 31, 12), cursor: "start" });
  expect(matchAt(lines, 2)).toBeUndefined();
});

it("has each line once, in the order of times", () => {
  const [first, second, third, fourth] = [match(1, 0, 5), match(0, 10, 7), match(0, 20, 7), match(0, 30)];
  expect(merged([first, third], [second, { ...third, text: "as it is loaded" }, fourth])).toEqual([first, second, third, fourth]);
  expect(merged(undefined, [third, first])).toEqual([third, first]);
  expect(merged([first], [])).toEqual([first]);
});

it("steps from a line to the next match", () => {
  const matches = [match(0, 0, 5), match(0, 10, 7), match(1, 0, 9)];
  expect(nearest(matches, match(0, 5, 6), 1)).toBe(1);
  expect(nearest(matches, match(0, 5, 6), -1)).toBe(0);
  expect(nearest(matches, match(0, 10, 7), 1)).toBe(2);
  expect(nearest(matches, match(1, 1, 9), 1)).toBe(0);
  expect(nearest(matches, match(0, 0, 1), -1)).toBe(2);
  expect(nearest([], match(0, 0, 1), 1)).toBe(-1);
  expect(compare(match(0, 3), match(0, 3))).toBe(0);
});
