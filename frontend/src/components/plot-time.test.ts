import { expect, test } from "vitest";
import { timeLabels } from "./plot-time";

const at = (text: string) => new Date(text).getTime() / 1000;

test("times have 24 hours, and the day where it begins", () => {
  const ticks = ["2026-11-29T21:00", "2026-11-30T00:00", "2026-11-30T03:00"].map(at);
  expect(timeLabels(ticks, 10_800, "en-GB")).toEqual(["21:00\n29 Nov", "00:00\n30 Nov", "03:00"]);
  expect(timeLabels(ticks, 10_800, "zh")).toEqual(["21:00\n11月29日", "00:00\n11月30日", "03:00"]);
});

test("days have the year, and short times seconds", () => {
  const days = ["2025-12-31T00:00", "2026-01-01T00:00"].map(at);
  expect(timeLabels(days, 86_400, "en-GB")).toEqual(["31 Dec\n2025", "1 Jan\n2026"]);
  expect(timeLabels([at("2026-11-30T03:00:05")], 5, "en-GB")).toEqual(["03:00:05\n30 Nov"]);
});
