import { expect, it } from "vitest";
import { cpuLines, memoryLines, type Role } from "./sizing";

const size = (cpu: number, gib: number) => ({ cpu, memory: gib * 2 ** 30 });

const past = (had: number, peak: number, ranOut: boolean) => ({
  attempt: "R.a.0.1", ended_at: "2026-01-01T00:00:00Z", run_seconds: 60, asked: size(2, 16), had: size(2, had), recommended: size(1, peak + 1), peak_memory: peak * 2 ** 30,
  cpu: 0.4, cpu_high: 0.5, short_of_cpu: ranOut, out_of_memory: ranOut, counts: true,
});

const role: Role = {
  role: "worker", workers: 1, asked: size(2, 16), recommended: size(0.6, 5), memory_reason: "", cpu_reason: "", confidence: 1, risk: 0,
  past: [past(16, 3, false), past(2, 2, true), past(16, 3, false)],
};

it("draws an attempt a point, and a mark where memory ran out", () => {
  const lines = memoryLines(role);
  expect(lines.map(({ y }) => y)).toEqual([[4, 3, 4, 5], [16, 2, 16], [16, 16, 16], [3, 2, 3], [2]]);
  // The current recommendation is one attempt further; the actual size is drawn over it, and the request over
  // both.
  expect(lines[0]?.x).toEqual([1, 2, 3, 4]);
  expect(lines.map(({ dashed }) => dashed === true)).toEqual([false, false, true, false, false]);
  expect(lines.at(-1)).toMatchObject({ x: [2], marks: true });
  expect(cpuLines(role).map(({ y }) => y)).toEqual([[1, 1, 1, 0.6], [2, 2, 2], [2, 2, 2], [0.5, 0.5, 0.5], [2]]);
});

it("marks attempts that were short of CPU only", () => {
  expect(cpuLines({ ...role, past: [past(2, 2, false)] })).toHaveLength(4);
});

it("has no line of marks where there are none", () => {
  expect(memoryLines({ ...role, past: [past(16, 3, false)] })).toHaveLength(4);
});
