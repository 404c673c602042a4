import { expect, it } from "vitest";
import type { Schema } from "../api/typed";
import { lines } from "./usage";

const GIB = 2 ** 30;
const at = (second: number) => new Date(second * 1000).toISOString();

/** A worker that used 1, 2 and 3 GiB, requested 8 GiB and had these limits from these seconds on. */
const worker = (name: string, ...limits: readonly (readonly [number, number])[]): Schema<"WorkerUsageView"> => ({
  worker: name,
  asked: { cpu: 2, memory: 8 * GIB },
  limits: limits.map(([second, gib]) => ({ at: at(second), cpu: 2, memory: gib * GIB })),
  cards: false,
  lines: [
    { name: "memory", unit: "bytes", peak: 3 * GIB, points: [[10, GIB], [20, 2 * GIB], [30, 3 * GIB]] },
    { name: "cpu", unit: "cores", peak: 1, points: [[10, 1], [30, 1]] },
  ],
});

it("draws a limit as it was at each time, and what was asked for where that is something else", () => {
  const [used, limit, asked, ...rest] = lines("memory", { by: GIB, limit: "memory" }, [worker("worker-0", [5, 2], [20, 4])]);
  expect(used).toMatchObject({ label: "worker-0", y: [1, 2, 3] });
  expect(limit).toMatchObject({ x: [10, 20, 30], y: [2, 4, 4], stepped: true, dashed: true, dotted: false });
  expect(asked).toMatchObject({ x: [10, 30], y: [8, 8], dotted: true });
  expect(rest).toEqual([]);
});

it("says nothing of what was asked for where workers had just that, and draws the same limit once", () => {
  const gang = [worker("worker-0", [5, 8]), worker("worker-1", [6, 8])];
  expect(lines("memory", { by: GIB, limit: "memory" }, gang).map(({ y }) => y)).toEqual([[1, 2, 3], [1, 2, 3], [8, 8]]);
  // Only memory grows while a worker runs: CPU has no steps.
  expect(lines("cpu", { by: 1, limit: "cpu" }, [worker("worker-0", [5, 2], [20, 4])]).map(({ y }) => y)).toEqual([[1, 1], [2, 2]]);
});

it("draws no limit of a worker whose role nobody knows", () => {
  expect(lines("memory", { by: GIB, limit: "memory" }, [{ ...worker("x7k2p"), asked: null }])).toHaveLength(1);
});
