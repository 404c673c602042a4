import { expect, it } from "vitest";

import { Lines } from "./lines";

const all = (lines: Lines): string[] => Array.from({ length: lines.count }, (_, at) => lines.at(at));

it("is the same however the text is cut", () => {
  const text = "one\ntwo\n\nfour\nfi";
  for (let cut = 0; cut <= text.length; cut += 1) {
    for (let start = 0; start <= cut; start += 1) {
      const lines = new Lines();
      lines.append(text.slice(start, cut));
      lines.prepend(text.slice(0, start));
      lines.append(text.slice(cut));
      expect(all(lines), `${start} ${cut}`).toEqual(["one", "two", "", "four", "fi"]);
    }
  }
});

it("says which lines changed and how far the others moved", () => {
  const lines = new Lines();
  expect(lines.append("a\nb")).toBe(0);
  expect(lines.append("c\nd\n")).toBe(1);
  expect(all(lines)).toEqual(["a", "bc", "d"]);
  expect(lines.prepend("x\ny")).toBe(1);
  expect(all(lines)).toEqual(["x", "ya", "bc", "d"]);
});

it("holds 100,000 lines without taking long", () => {
  const lines = new Lines();
  for (let at = 0; at < 1000; at += 1) lines.append(`${"line of a log\n".repeat(100)}`);
  expect(lines.count).toBe(100_000);
});
