import { expect, test } from "vitest";
import type { Schema } from "../api/typed";
import { liveOf } from "./live";

const task = (parts: Partial<Schema<"TaskView">>) => ({ name: "a", state: "running", attempts: 0, instances: { total: 1, states: { running: 1 } }, ...parts }) as Schema<"TaskView">;

test("of several instances, those that have ended are counted", () => {
  const states = { succeeded: 2, failed: 1, skipped: 1, running: 1, backoff: 1, waiting: 3, pending: 1 };
  expect(liveOf(task({ instances: { total: 10, states } })).instances).toEqual({ done: 4, total: 10 });
  expect(liveOf(task({})).instances).toBeUndefined();
});

test("a first attempt is no retry", () => {
  expect(liveOf(task({ attempts: 1 })).attempts).toBe(1);
  expect(liveOf(task({ attempts: 3 })).attempts).toBe(3);
  expect(liveOf(task({ attempts: 2, instances: { total: 5, states: { running: 2, waiting: 3 } } })).attempts).toBe(1);
});
