import { expect, test } from "vitest";
import { bars, ordered, type GridData, type GridRun, type GridTask } from "./data";
import { moved } from "./move";

const run = (id: string, more: Partial<GridRun> = {}): GridRun => ({ id, state: "succeeded", created_at: "2026-01-01T00:00:00Z", ...more });
const task = (name: string, failures: number): GridTask => ({ name, removed: false, failures, cells: [] });

test("what fails most comes first, and equal tasks keep the order of the document", () => {
  const tasks = [task("pull", 0), task("train", 2), task("test", 2), task("report", 5)];
  expect(ordered(tasks, "failures").map(({ name }) => name)).toEqual(["report", "train", "test", "pull"]);
  expect(ordered(tasks, "document")).toEqual(tasks);
});

test("durations share a scale, and an active run counts up to now", () => {
  const now = Date.parse("2026-01-01T00:01:00Z");
  const active = run("c", { state: "running", started_at: "2026-01-01T00:00:20Z" });
  const data: GridData = { runs: [run("a", { duration_seconds: 10 }), run("b", { state: "queued" }), active], tasks: [], durations: { median_seconds: 10 } };
  expect(bars(data, now)).toEqual({ took: [10, null, 40], longest: 40, median: 0.25 });
  expect(bars({ ...data, runs: [run("b")], durations: {} }, now)).toEqual({ took: [null], longest: null, median: null });
});

test("keys move within the grid", () => {
  const last = { row: 20, column: 4 };
  const from = (row: number, column: number) => (key: string, ctrl = false) => moved({ row, column }, key, ctrl, last);
  const key = from(2, 1);
  expect(key("ArrowUp")).toEqual({ row: 1, column: 1 });
  expect(key("ArrowDown")).toEqual({ row: 3, column: 1 });
  expect(key("ArrowLeft")).toEqual({ row: 2, column: 0 });
  expect(key("ArrowRight")).toEqual({ row: 2, column: 2 });
  expect(key("PageDown")).toEqual({ row: 12, column: 1 });
  expect(key("Home")).toEqual({ row: 2, column: 0 });
  expect(key("End")).toEqual({ row: 2, column: 4 });
  expect(key("Home", true)).toEqual({ row: 0, column: 0 });
  expect(key("End", true)).toEqual({ row: 20, column: 4 });
  expect(from(0, 0)("ArrowUp")).toEqual({ row: 0, column: 0 });
  expect(from(20, 4)("PageDown")).toEqual({ row: 20, column: 4 });
  expect([key("Enter"), key("a"), key("ArrowUp", true)]).toEqual([null, null, null]);
});
