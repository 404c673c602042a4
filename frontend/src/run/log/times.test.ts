import { expect, test } from "vitest";

import { Lines } from "./lines";
import { shown } from "./times";

test("times are short and of one width", () => {
  const begin = new Date(2026, 0, 31, 14, 3, 22, 150).getTime();
  expect(shown(begin, "clock", 0)).toBe("14:03:22.1");
  expect(shown(begin + 12_345, "since", begin)).toBe("   +0:12.3");
  expect(shown(begin + 3_723_400, "since", begin)).toBe("+1:02:03.4");
  expect(shown(begin - 500, "since", begin)).toBe("   +0:00.0");
});

test("a line has the time at which its beginning came", () => {
  const lines = new Lines();
  const source = { worker: "worker-0", stream: "stdout" };
  const at = (second: number): string => `2026-01-31T12:00:0${second}.000000Z`;
  lines.append({ ...source, offset: 0, text: "a\nb\nc", times: [{ line: 0, at: at(1) }, { line: 2, at: at(2) }] });
  lines.append({ ...source, offset: 5, text: "c\nd\n", times: [{ line: 0, at: at(3) }] });
  lines.append({ ...source, offset: 9, text: "old\n" });
  const seconds = [0, 1, 2, 3, 4].map((line) => lines.time(line)).map((time) => time && new Date(time).getUTCSeconds());
  expect(seconds).toEqual([1, 1, 2, 3, undefined]);
});
