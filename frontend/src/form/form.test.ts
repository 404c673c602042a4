import { describe, expect, test } from "vitest";
import type { Problem } from "../api/problem";
import type { PipelineDocument } from "../graph/document";
import { grouped, placeWords, problemsAt, taskIndex } from "./by-place";
import { readNumber, readScalar } from "./draft";
import { isLabel, isVariable } from "./names";
import { isWithin, pointer, same } from "./path";
import { amount, bytesShown } from "./quantity";
import { groupOf, roomOf } from "./room";
import { among } from "./suggest";
import { candidates } from "./task/needs";
import { countOf } from "./task/elements";
import { readSecret, readVolume, usualVariable, writeSecret, writeVolume } from "./task/uses";
import { MIXED, orDefault, readAt, writeAt } from "./write";

const pipeline: PipelineDocument = {
  apiVersion: "cubeloom/v1",
  kind: "Pipeline",
  name: "p",
  tasks: [
    { name: "a", template: "python", resources: { cpu: 2, memory: "1Gi" } },
    { name: "b", template: "python", needs: ["a"], resources: { cpu: 2 } },
    { name: "c", template: "python", needs: ["b"] },
  ],
};
const [a, b, c] = pipeline.tasks;

describe("writing", () => {
  test("one field of one task leaves everything else the same object", () => {
    const after = writeAt(pipeline, ["a"], ["resources", "cpu"], "500m");
    expect(after.tasks[0]).toEqual({ name: "a", template: "python", resources: { cpu: "500m", memory: "1Gi" } });
    expect(after.tasks[1]).toBe(b);
    expect(writeAt(after, ["a"], ["resources", "cpu"], 2)).toEqual(pipeline);
  });

  test("emptied mappings vanish, so that an untouched document comes back", () => {
    const set = writeAt(pipeline, ["c"], ["retry", "backoff", "initial"], "10s");
    expect(set.tasks[2]).toMatchObject({ retry: { backoff: { initial: "10s" } } });
    expect(writeAt(set, ["c"], ["retry", "backoff", "initial"], undefined)).toEqual(pipeline);
  });

  test("an element that is emptied keeps its place while somebody types", () => {
    const set = writeAt(pipeline, ["c"], ["placement", "tolerations"], [{ key: "x" }, { key: "y" }]);
    expect(readAt(writeAt(set, ["c"], ["placement", "tolerations", 0, "key"], undefined), [], ["tasks", 2, "placement", "tolerations"])).toEqual([{}, { key: "y" }]);
  });

  test("the pipeline itself is written when no task is named", () => {
    const set = writeAt(pipeline, [], ["parameters", "day", "type"], "date");
    expect(set.parameters).toEqual({ day: { type: "date" } });
    expect(set.tasks).toBe(pipeline.tasks);
  });

  test("several tasks get the same, and show what they have in common", () => {
    expect(a && b && readAt(pipeline, [a, b], ["resources", "cpu"])).toBe(2);
    expect(a && c && readAt(pipeline, [a, c], ["resources", "cpu"])).toBe(MIXED);
    const after = writeAt(pipeline, ["a", "c"], ["resources", "cpu"], 4);
    expect(after.tasks.map((task) => readAt(after, [task], ["resources", "cpu"]))).toEqual([4, 2, 4]);
  });

  test("what equals its default is not written", () => {
    expect(orDefault(false, false)).toBeUndefined();
    expect(orDefault([], [])).toBeUndefined();
    expect(orDefault(3, 2)).toBe(3);
    expect(orDefault("", undefined)).toBe("");
  });
});

test("text is read as what it means, and kept when it means nothing", () => {
  expect(["1.", "-2", "1e3", "", "12a", "{{ params.n }}"].map(readNumber)).toEqual([1, -2, 1000, undefined, "12a", "{{ params.n }}"]);
  expect(["8", "08", "1.50", "true", "True", "1e400", ""].map(readScalar)).toEqual([8, "08", "1.50", true, "True", "1e400", ""]);
});

test("amounts are read as the server reads them", () => {
  expect(["2", "0.5", "500m", ".25", "2x", "", "1e3", "."].map((text) => amount("cpu", text))).toEqual([2, 0.5, 0.5, 0.25, null, null, null, null]);
  expect(["1Ki", "1.5Gi", "5G", "7B", "2GiB", "3MB", "1Xi"].map((text) => amount("bytes", text))).toEqual([1024, 3 * 2 ** 29, 5e9, 7, 2 ** 31, 3e6, null]);
  expect(["90s", "1h30m", "250ms", "10", "5x", ""].map((text) => amount("span", text))).toEqual([90, 5400, 0.25, 10, null, null]);
  expect(bytesShown(1.5 * 2 ** 30)).toBe("1.5 GiB");
});

test("pointers are as RFC 6901 has them", () => {
  expect(pointer(["tasks", 0, "env", "a/b~c"])).toBe("/tasks/0/env/a~1b~0c");
  expect(isWithin("/tasks/10", "/tasks/1")).toBe(false);
  expect(isWithin("/tasks/1/needs/0", "/tasks/1")).toBe(true);
  expect(same({ x: [1], y: 2 }, { y: 2, x: [1] })).toBe(true);
  expect(same({ x: undefined }, { y: undefined })).toBe(false);
});

test("problems are found at their place, and listed by task with those of the pipeline first", () => {
  const problem = (path: string): Problem => ({ severity: "error", code: "x", path, message: path });
  const all = ["/tasks/1/arguments/args/2", "/name", "/tasks/0/name", "/tasks/1/needs"].map(problem);
  expect(problemsAt(all, "/tasks/1/arguments/args", true).length).toBe(1);
  expect(problemsAt(all, "/tasks/1/arguments/args", false).length).toBe(0);
  expect(grouped(all, pipeline).map((group) => [group.task, group.problems.map(({ path }) => path)])).toEqual([
    [null, ["/name"]], ["a", ["/tasks/0/name"]], ["b", ["/tasks/1/arguments/args/2", "/tasks/1/needs"]],
  ]);
  expect(placeWords("/tasks/1/arguments/args/2")).toBe("arguments › args › 2");
  expect([taskIndex("/tasks/12/env"), taskIndex("/tasks"), taskIndex("/parameters/tasks/0")]).toEqual([12, null, null]);
});

test("only what does not come after a task can be needed by it", () => {
  expect(a && candidates(pipeline, a)).toEqual([]);
  expect(c && candidates(pipeline, c)).toEqual(["a"]);
});

test("instances are counted where they can be", () => {
  expect(countOf({ list: ["a", "b"] })).toBe(2);
  expect(countOf({ matrix: { rate: [0.1, 0.3], depth: [4, 6, 8] } })).toBe(6);
  expect([countOf(undefined), countOf({ from: "tasks.x.outputs.y" }), countOf({ list: "{{ params.days }}" }), countOf({ matrix: {} })]).toEqual([null, null, null, null]);
});

test("secrets and volumes are written as short as they can be, and come back", () => {
  for (const use of ["token", { name: "token", env: "API_TOKEN" }, { name: "token", file: "token.txt" }]) expect(writeSecret(readSecret(use))).toEqual(use);
  for (const use of ["data", { name: "data", mount: "/data" }, { name: "data", read_only: true }]) expect(writeVolume(readVolume(use))).toEqual(use);
  expect(writeVolume(readVolume({ name: "data", read_only: false }))).toBe("data");
  expect(usualVariable("my-token")).toBe("MY_TOKEN");
});

const node = (cpu: number, memory: number, gpus: string[], groups: string[] = []) => ({ name: "n", amount: { cpu, memory, gpus: gpus.length }, gpus: gpus.map((name) => ({ name, memory: 1 })), groups });

test("the room is what the largest node has, where the cluster is known", () => {
  const local = { name: "local", nodes: [node(4, 2 ** 33, []), node(2, 2 ** 34, ["H100", "H100"])], node_groups: [] };
  expect(roomOf([local], undefined)).toEqual({ cpu: 4, memory: 2 ** 34, gpus: 2, types: ["H100"] });
  expect(roomOf([local, { ...local, name: "other", nodes: [] }], undefined)).toBeNull();
  expect(roomOf([local, { ...local, name: "other" }], "other")?.cpu).toBe(4);
});

test("the room of a node group is what the largest of its own nodes has", () => {
  const prod = { name: "prod", nodes: [node(64, 2 ** 38, []), node(8, 2 ** 35, ["A100"], ["cards"]), node(4, 2 ** 36, [], ["cards", "cheap"])], node_groups: ["cards", "cheap", "empty"] };
  expect(roomOf([prod], undefined, "cards")).toEqual({ cpu: 8, memory: 2 ** 36, gpus: 1, types: ["A100"], group: "cards" });
  expect(roomOf([prod], undefined, "cheap")).toMatchObject({ cpu: 4, gpus: 0, group: "cheap" });
  // A group without nodes may scale up; a name that the cluster does not have is reported elsewhere.
  expect(roomOf([prod], undefined, "empty")).toBeNull();
  expect(roomOf([prod], undefined, "crads")).toEqual(roomOf([prod], undefined));
});

test("a task's own node group counts, else the pipeline's; tasks that do not agree have none", () => {
  const placed = { ...pipeline, placement: { node_group: "cheap" } };
  const [own, other] = [{ name: "x", template: "python", placement: { node_group: "cards" } }, { name: "y", template: "python", placement: { spread: "none" } }];
  expect([groupOf(placed, [own]), groupOf(placed, [other]), groupOf(placed, []), groupOf(pipeline, [other])]).toEqual(["cards", "cheap", "cheap", undefined]);
  expect(groupOf(placed, [own, other])).toBeUndefined();
});

test("names are what the server takes", () => {
  expect(["a", "a-1", "A", "-a", "a-", "", "a".repeat(64)].map(isLabel)).toEqual([true, true, false, false, false, false, false]);
  expect(["a_1", "_", "1a", "a-b", ""].map(isVariable)).toEqual([true, true, false, false, false]);
});

describe("names that a whole text may become", () => {
  const names = ["prepare-data", "train", "prepare-more"];
  const labels = (text: string, asked = false) => among(names, text, asked)?.options.map((option) => option.label) ?? null;

  test("are those that hold what was written, once something was", () => {
    expect(labels("")).toBeNull();
    expect(labels("", true)).toEqual(names);
    expect(labels("PREP")).toEqual(["prepare-data", "prepare-more"]);
    expect(labels("train")).toBeNull();
    expect(among(undefined, "a", true)).toBeNull();
    expect(among(names, "tra", false)).toMatchObject({ from: 0, to: 3 });
  });
});
