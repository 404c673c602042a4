import { expect, it } from "vitest";

import { Finder } from "./finder";
import { Lines } from "./lines";

const chunk = (text: string, offset: number) => ({ worker: "worker-0", stream: "stdout", text, offset });

it("finds lines, also in what is added later, at both ends", () => {
  const lines = new Lines();
  lines.append(chunk("loss 1\nother\nloss 2\n", 100));
  const finder = new Finder(lines);
  finder.ask({ text: "loss", pattern: false });
  expect(finder.found).toEqual([0, 2]);
  finder.grown(lines.append(chunk("lo", 120)));
  expect(finder.found).toEqual([0, 2]);
  finder.grown(lines.append(chunk("ss 3\n", 122)));
  expect(finder.found).toEqual([0, 2, 3]);
  finder.prepended(lines.prepend([chunk("a\nloss 0\n", 91)]));
  expect(finder.found).toEqual([1, 2, 4, 5]);
  lines.clear();
  finder.grown(lines.append(chunk("x\nloss\n", 0)));
  finder.replaced();
  expect(finder.found).toEqual([1]);
});

it("says what is no expression", () => {
  const finder = new Finder(new Lines());
  finder.ask({ text: "(", pattern: true });
  expect([finder.bad, finder.found]).toEqual([true, []]);
  finder.ask({ text: "", pattern: true });
  expect(finder.bad).toBe(false);
});
