import { expect, it } from "vitest";

import { groups, shown, type ComparedRun, type Group } from "./comparison";

const compared = (id: string, rest: Partial<ComparedRun>): ComparedRun => ({
  run: { id, pipeline: "p", phase: "succeeded", user: "ada", created_at: "2026-01-01T00:00:00Z" },
  parameters: {},
  metrics: [],
  outputs: [],
  tasks: [],
  ...rest,
});

const rows = (found: Group[], kind: string) => found.find((group) => group.kind === kind)?.rows ?? [];

it("has a row for each parameter, in the order of the runs, and says which are equal", () => {
  const found = groups([
    compared("a", { parameters: { epochs: 3, name: "x" } }),
    compared("b", { parameters: { name: "x", epochs: 5, layers: [1, 2] } }),
  ]);
  expect(found.map(({ kind }) => kind)).toEqual(["parameters"]);
  expect(rows(found, "parameters").map(({ name, same, cells }) => [name, same, cells.map(({ text }) => text)])).toEqual([
    ["epochs", false, ["3", "5"]],
    ["name", true, ["x", "x"]],
    ["layers", false, ["–", "[1,2]"]],
  ]);
});

it("shows the difference of each number to the first run", () => {
  const loss = (value: number | string) => [{ task: "learn", name: "loss", value }];
  const found = groups([
    compared("a", { metrics: loss(0.5) }),
    compared("b", { metrics: loss(0.25) }),
    compared("c", { metrics: loss("NaN") }),
    compared("d", {}),
    compared("e", { metrics: loss(0.52) }),
  ]);
  const [row] = rows(found, "metrics");
  expect([row?.name, row?.task, row?.same]).toEqual(["loss", "learn", false]);
  expect(row?.cells.map(({ text, difference }) => [text, difference])).toEqual([
    ["0.5", ""],
    ["0.25", "−0.25"],
    ["NaN", ""],
    ["–", ""],
    ["0.52", "+0.02"],
  ]);
});

it("tells metrics of one name apart by their tasks", () => {
  const one = (task: string, value: number) => ({ task, name: "rows", value });
  const found = groups([compared("a", { outputs: [one("x", 1), one("y", 2)] }), compared("b", { outputs: [one("y", 2), one("x", 1)] })]);
  expect(rows(found, "outputs").map(({ task, same }) => [task, same])).toEqual([["x", true], ["y", true]]);
});

it("compares durations as they are shown, and states", () => {
  const task = (name: string, state: string, seconds?: number) => ({ name, state, ...(seconds === undefined ? {} : { run_seconds: seconds }) });
  const found = groups([
    compared("a", { tasks: [task("load", "succeeded", 1.01), task("learn", "succeeded", 60)] }),
    compared("b", { tasks: [task("load", "succeeded", 1.02), task("learn", "failed", 72)] }),
  ]);
  const [load, learn] = rows(found, "tasks");
  expect([load?.same, load?.cells[1]?.difference]).toEqual([true, ""]);
  expect(learn?.cells[1]).toEqual({ text: "1 min 12 s", difference: "+12 s", state: "failed" });
});

it("shows numbers without unnecessary digits", () => {
  expect([2, 0.5, 0.97314, 100, 0, 1.2e-7].map(shown)).toEqual(["2", "0.5", "0.9731", "100", "0", "1.200e-7"]);
});
