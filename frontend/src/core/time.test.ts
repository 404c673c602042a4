import { expect, test, vi } from "vitest";

import { loadTexts } from "./texts";
import { bytes, duration, relative } from "./time";

test("durations keep two units, so that a column of them can be compared", () => {
  expect([0.42, 12, 200, 7500, 273_600].map(duration)).toEqual(["0.4 s", "12 s", "3 min 20 s", "2 h 05 min", "3 d 04 h"]);
  expect(duration(59.7)).toBe("1 min 00 s");
  expect(duration(-3)).toBe("0.0 s");
});

test("amounts of bytes are told in the unit that keeps them short", () => {
  expect([0, 512, 1536, 3 * 2 ** 30, 2 ** 60].map(bytes)).toEqual(["0 B", "512 B", "1.5 KiB", "3.0 GiB", "1024 PiB"]);
});

test.each([
  ["en", ["just now", "45 s ago", "3 min ago", "in 2 h", "1 day ago", "in 40 days", "3 months ago", "in 1 year"]],
  ["zh", ["刚刚", "45 秒前", "3 分钟前", "2 小时后", "1 天前", "40 天后", "3 个月前", "1 年后"]],
])("moments are told as the server writes them: %s", async (lang, told) => {
  vi.stubGlobal("document", { documentElement: { lang } });
  await loadTexts();
  const day = 86_400;
  expect([-2, -45, -200, 7200, -day, 40 * day, -100 * day, 40_000_000].map(relative)).toEqual(told);
  vi.unstubAllGlobals();
});
