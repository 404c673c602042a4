import { expect, test } from "vitest";
import { bytes, duration, relative } from "./time";

test("durations keep two units, so that a column of them can be compared", () => {
  expect([0.42, 12, 200, 7500, 273_600].map(duration)).toEqual(["0.4 s", "12 s", "3 min 20 s", "2 h 05 min", "3 d 04 h"]);
  expect(duration(59.7)).toBe("1 min 00 s");
  expect(duration(-3)).toBe("0.0 s");
});

test("amounts of bytes are told in the unit that keeps them short", () => {
  expect([0, 512, 1536, 3 * 2 ** 30, 2 ** 60].map(bytes)).toEqual(["0 B", "512 B", "1.5 KiB", "3.0 GiB", "1024 PiB"]);
});

test("moments are told in the reader's language", () => {
  expect(relative(-200, "en")).toBe("3 min. ago");
  expect(relative(-200, "zh")).toBe("3分钟前");
  expect(relative(7200, "en")).toBe("in 2 hr.");
});
