import { expect, test } from "vitest";
import { csv, fileName } from "./plot-csv";

test("series with different steps share a table", () => {
  const series = [{ label: "a", x: [0, 2], y: [1, 0.1 + 0.2] }, { label: "b", x: [1, 2], y: [null, -5e-7] }];
  expect(csv("Step", series, String)).toBe("Step,a,b\n0,1,\n1,,\n2,0.30000000000000004,-5e-7\n");
});

test("a name with a separator is quoted", () => {
  expect(csv("Step", [{ label: 'one, "two"', x: [1], y: [2] }], String)).toBe('Step,"one, ""two"""\n1,2\n');
});

test("a file has the title's name without separators of paths", () => {
  expect(fileName("val/loss", "csv")).toBe("val-loss.csv");
  expect(fileName("../显存 (%)", "png")).toBe("显存.png");
  expect(fileName("///", "csv")).toBe("plot.csv");
});
