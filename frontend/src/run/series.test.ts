import { expect, it } from "vitest";

import { plots, type Series } from "./series";

const series = (name: string, task: string, instance: number, points: [number, number][]): Series => ({ name, task, instance, points });

it("draws one plot a name, one line a task, and tells instances apart", () => {
  const found = plots([series("loss", "a", 0, [[1, 5]]), series("loss", "b", 0, [[1, 4]]), series("loss", "b", 1, [[1, 3]]), series("auc", "a", 0, [])]);
  expect([...found].map(([name, lines]) => [name, lines.map((line) => line.label)])).toEqual([
    ["loss", ["a", "b#0", "b#1"]],
    ["auc", ["a"]],
  ]);
});

it("has each step once, in order", () => {
  const [line] = plots([series("loss", "a", 0, [[1, 5], [2, 4], [1, 9], [3, 2]])]).get("loss") ?? [];
  expect(line).toEqual({ label: "a", x: [1, 2, 3], y: [9, 4, 2] });
});
