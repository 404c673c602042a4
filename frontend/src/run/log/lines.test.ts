import { expect, it } from "vitest";

import { Lines, sizeOf, type Chunk, type Source } from "./lines";

const a: Source = { worker: "worker-0", stream: "stdout" };
const b: Source = { worker: "worker-1", stream: "stdout" };
const chunk = (source: Source, text: string, offset = 0): Chunk => ({ ...source, text, offset });
const indices = (lines: Lines): number[] => Array.from({ length: lines.count }, (_, at) => at);
const all = (lines: Lines): string[] => indices(lines).map((at) => lines.at(at));
const numbers = (lines: Lines): (number | undefined)[] => indices(lines).map((at) => lines.number(at));

it("is the same however a stream is cut", () => {
  const text = "one\ntwo\n\nfour\nfi";
  for (let cut = 0; cut <= text.length; cut += 1) {
    for (let start = 0; start <= cut; start += 1) {
      const lines = new Lines();
      for (const [from, to] of [[0, start], [start, cut], [cut, text.length]]) lines.append(chunk(a, text.slice(from, to), from));
      expect(all(lines), `${start} ${cut}`).toEqual(["one", "two", "", "four", "fi"]);
      expect(indices(lines).map((at) => lines.line(at)?.offset), `${start} ${cut}`).toEqual([0, 4, 8, 9, 14]);
      expect(numbers(lines)).toEqual([1, 2, 3, 4, 5]);
    }
  }
});

it("keeps the lines of workers whole that arrive one between another", () => {
  const lines = new Lines();
  expect(lines.append(chunk(a, "step 1\nste"))).toBe(0);
  expect(lines.append(chunk(b, "begin\n"))).toBe(2);
  expect(lines.append(chunk(a, "p 2\nstep 3\n", 10))).toBe(1);
  expect(lines.append(chunk(b, "", 6))).toBe(4);
  expect(all(lines)).toEqual(["step 1", "step 2", "begin", "step 3"]);
  expect(indices(lines).map((at) => lines.source(at)?.worker)).toEqual(["worker-0", "worker-0", "worker-1", "worker-0"]);
  expect(numbers(lines)).toEqual([1, 2, 1, 3]);
});

it("begins again", () => {
  const lines = new Lines();
  lines.append(chunk(a, "half"));
  lines.clear();
  lines.append(chunk(a, "whole\n"));
  expect(all(lines)).toEqual(["whole"]);
  expect(lines.bytes).toBe(6);
});

it("holds 100,000 lines", () => {
  const lines = new Lines();
  for (let at = 0; at < 1000; at += 1) lines.append(chunk(at % 2 === 0 ? a : b, "line of a log\n".repeat(100), at * 1400));
  expect(lines.count).toBe(100_000);
  expect(lines.at(99_999)).toBe("line of a log");
});

it("grows at its beginning, and numbers the lines once that of one is known", () => {
  const lines = new Lines();
  lines.append(chunk(a, "four\nfive\n", 14), "end");
  lines.append(chunk(b, "two\n", 4), "end");
  expect(numbers(lines)).toEqual([undefined, undefined, undefined]);
  expect(lines.learn([{ ...a, offset: 14, line: 4 }, { ...b, offset: 99, line: 9 }])).toBe(true);
  expect(numbers(lines)).toEqual([4, 5, undefined]);
  expect(lines.prepend([chunk(b, "one\n"), chunk(a, "two\nthree\n", 4)], "start")).toBe(3);
  expect(all(lines)).toEqual(["one", "two", "three", "four", "five", "two"]);
  expect(numbers(lines)).toEqual([1, 2, 3, 4, 5, 2]);
  expect(lines.prepend([chunk(a, "one\n")])).toBe(1);
  lines.append(chunk(a, "six\n", 24));
  expect(numbers(lines)).toEqual([1, 1, 2, 3, 4, 5, 2, 6]);
  expect(lines.highest).toBe(6);
  expect([0, 1, 4].map((at) => lines.line(at)?.cursor)).toEqual(["", "start", "end"]);
  expect(lines.learn([{ ...a, offset: 14, line: 4 }])).toBe(false);
});

it("finds the line of a position", () => {
  const lines = new Lines();
  lines.append(chunk(a, "日本\n中\n", 100));
  lines.append(chunk(b, "other\n", 0));
  const find = (source: Source, offset: number): number => lines.find({ ...source, offset });
  expect([99, 100, 106, 107, 110, 111].map((offset) => find(a, offset))).toEqual([-1, 0, 0, 1, 1, -1]);
  expect(find(b, 0)).toBe(2);
  expect(find({ worker: "worker-2", stream: "stdout" }, 0)).toBe(-1);
  expect(["a", "é", "日", "🧵", "\ufffd"].map(sizeOf)).toEqual([1, 2, 3, 4, 1]);
});
