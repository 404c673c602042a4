import { expect, test } from "vitest";
import { offsetsDiffer, ownTime, zoneTime } from "./local-time";

test("a time of the schedule's zone is shown as the server has it", () => {
  expect(zoneTime("2026-03-30T06:00:00+02:00", "en", false)).toBe("Mon 2026-03-30 06:00");
  expect(zoneTime("2026-03-30T06:00:00+02:00", "zh", false)).toBe("周一 2026-03-30 06:00");
  expect(zoneTime("2026-10-25T02:00:30+01:00", "en", true)).toBe("Sun 2026-10-25 02:00:30 +01:00");
});

test("a moment has the clock of the browser", () => {
  expect(ownTime(new Date(2026, 2, 30, 6, 5), "en", false)).toBe("Mon 2026-03-30 06:05");
  expect(ownTime(new Date(2026, 2, 30, 6, 5), "en", true)).toMatch(/^Mon 2026-03-30 06:05 [+-]\d\d:\d\d$/);
});

test("offsets are needed where the clock changes", () => {
  expect(offsetsDiffer([{ local: "2026-10-25T02:00:00+02:00" }, { local: "2026-10-25T02:00:00+01:00" }])).toBe(true);
  expect(offsetsDiffer([{ local: "2026-10-26T02:00:00+01:00" }, { local: "2026-10-27T02:00:00+01:00" }])).toBe(false);
});
