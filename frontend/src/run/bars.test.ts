import { expect, it } from "vitest";

import { rows, type Attempt } from "./bars";

const attempt = (part: Partial<Attempt>): Attempt => ({
  task: "train", instance: 0, attempt: 1, ready: null, created: 1000, started: 1000, ended: 5000, state: "succeeded", ...part,
});

it("shows waiting before running, and both tries in one row", () => {
  const [row, ...others] = rows(
    [attempt({ ready: 0, ended: 3000, state: "failed" }), attempt({ attempt: 2, created: 4000, started: 4010, ended: null, state: "running" })],
    { train: "running" },
  );
  expect(others).toEqual([]);
  expect(row?.label).toBe("train");
  expect(row?.state).toBe("running");
  expect(row?.bars.map(({ from, to, state, ready }) => [from, to, state, ready])).toEqual([
    [0, 1000, "waiting", true],
    [1000, 3000, "failed", false],
    [4010, null, "running", false],
  ]);
});

it("keeps instances apart, each with its own state", () => {
  const found = rows([attempt({}), attempt({ instance: 1, started: null, ended: null, state: "submitting" })], { train: "running" });
  expect(found.map(({ label, state }) => [label, state])).toEqual([["train#0", "succeeded"], ["train#1", "submitting"]]);
  expect(found[1]?.bars).toEqual([{ from: 1000, to: null, state: "waiting", attempt: 1, ready: true }]);
});

it("shows what waits without an attempt as open, behind the attempts before it", () => {
  const [row] = rows(
    [attempt({ ended: 3000, state: "failed" }), { task: "train", instance: 0, attempt: 2, created: 4000, state: "waiting" }],
    { train: "waiting" },
  );
  expect(row?.state).toBe("waiting");
  expect(row?.bars.map(({ from, to, state, attempt: n }) => [from, to, state, n])).toEqual([
    [1000, 3000, "failed", 1],
    [4000, null, "waiting", 2],
  ]);
});
