import { expect, test } from "vitest";
import { areas, heatOf, nameOf, times } from "./gpu-data";
import type { Group, History } from "./gpu-data";

const history = (groups: Partial<Group>[], others?: Partial<Group>) => ({
  from: "2026-03-01T12:00:00.000000Z", step_seconds: 60, total: [8, null, 8], groups, others,
}) as unknown as History;

test("intervals begin one after the other", () => {
  const start = Date.parse("2026-03-01T12:00:00Z") / 1000;
  expect(times(history([]))).toEqual([start, start + 60, start + 120]);
});

test("the largest groups have areas, and all others share one", () => {
  const group = (project: string, gpus: number) => ({ project, allocated: [gpus, null, gpus] });
  const small = ["a", "b", "c", "d", "e", "f"].map((name, at) => group(name, at));
  const found = areas(history([...small, group("large", 9)], { allocated: [1, null, 1] }), "project");
  expect(found.map(({ label, y }) => [label, y[0]])).toEqual([["large", 9], ["f", 5], ["e", 4], ["d", 3], ["c", 2], ["monitoring.other-groups", 2]]);
  expect(found.at(-1)?.y).toEqual([2, null, 2]);
  expect(areas(history([group("none", 0)]), "project")).toEqual([]);
});

test("nodes are shown by utilization, or by allocation where that is unknown", () => {
  const node = (used: (number | null)[]) => ({ node: "n1", total: [8, null, 0], allocated: [4, null, 0], used });
  const heat = (measure: string, used: (number | null)[]) => heatOf(history([node(used)]), measure);
  expect(heat("used", [2, null, null])).toEqual({ names: ["n1"], shares: [[0.25, null, null]], columns: 3, measure: "used" });
  expect(heat("allocated", [2, null, null]).shares).toEqual([[0.5, null, null]]);
  expect(heat("used", [null, null, null])).toMatchObject({ shares: [[0.5, null, null]], measure: "allocated" });
});

test("a group without a name has a word", () => {
  expect(nameOf({ project: "shop", pipeline: "p", task: "train" }, "task")).toBe("shop / p / train");
  expect(nameOf({ project: "shop" }, "task")).toBe("shop / monitoring.smaller-tasks");
  expect([nameOf({}, "model"), nameOf({}, "node_group")]).toEqual(["monitoring.model-unknown", "monitoring.no-node-group"]);
});
