import { expect, it } from "vitest";

import { Finder } from "./finder";
import { Lines } from "./lines";

const source = { worker: "worker-0", stream: "stdout" };

it("steps through what it finds, also in what is added later", () => {
  const lines = new Lines();
  lines.append(source, "loss 1\nother\nloss 2\n");
  const finder = new Finder(lines);
  finder.ask({ text: "loss", pattern: false }, 1);
  expect([finder.count, finder.place, finder.line]).toEqual([2, 2, 2]);
  finder.step(1);
  expect(finder.line).toBe(0);
  finder.grown(lines.append(source, "lo"));
  expect(finder.count).toBe(2);
  finder.grown(lines.append(source, "ss 3\n"));
  expect(finder.count).toBe(3);
  finder.step(-1);
  expect([finder.place, finder.line]).toEqual([3, 3]);
});

it("says what is no expression", () => {
  const finder = new Finder(new Lines());
  finder.ask({ text: "(", pattern: true }, 0);
  expect([finder.bad, finder.count, finder.line]).toEqual([true, 0, -1]);
  finder.ask({ text: "", pattern: true }, 0);
  expect(finder.bad).toBe(false);
});
