import { expect, it } from "vitest";

import { Lines, type Source } from "./lines";

const a: Source = { worker: "worker-0", stream: "stdout" };
const b: Source = { worker: "worker-1", stream: "stdout" };
const all = (lines: Lines): string[] => Array.from({ length: lines.count }, (_, at) => lines.at(at));

it("is the same however a stream is cut", () => {
  const text = "one\ntwo\n\nfour\nfi";
  for (let cut = 0; cut <= text.length; cut += 1) {
    for (let start = 0; start <= cut; start += 1) {
      const lines = new Lines();
      for (const part of [text.slice(0, start), text.slice(start, cut), text.slice(cut)]) lines.append(a, part);
      expect(all(lines), `${start} ${cut}`).toEqual(["one", "two", "", "four", "fi"]);
    }
  }
});

it("keeps the lines of workers whole that arrive one between another", () => {
  const lines = new Lines();
  expect(lines.append(a, "step 1\nste")).toBe(0);
  expect(lines.append(b, "begin\n")).toBe(2);
  expect(lines.append(a, "p 2\nstep 3\n")).toBe(1);
  expect(lines.append(b, "")).toBe(4);
  expect(all(lines)).toEqual(["step 1", "step 2", "begin", "step 3"]);
  expect([0, 1, 2, 3].map((at) => lines.source(at)?.worker)).toEqual(["worker-0", "worker-0", "worker-1", "worker-0"]);
});

it("begins again", () => {
  const lines = new Lines();
  lines.append(a, "half");
  lines.clear();
  lines.append(a, "whole\n");
  expect(all(lines)).toEqual(["whole"]);
});

it("holds 100,000 lines", () => {
  const lines = new Lines();
  for (let at = 0; at < 1000; at += 1) lines.append(at % 2 === 0 ? a : b, "line of a log\n".repeat(100));
  expect(lines.count).toBe(100_000);
  expect(lines.at(99_999)).toBe("line of a log");
});
