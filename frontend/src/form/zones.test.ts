import { expect, test } from "vitest";
import { browserZone, zonesFrom } from "./zones";

test("the browser's zone is the first, then UTC, and each zone is there once", () => {
  expect(zonesFrom("Asia/Shanghai", ["Africa/Cairo", "Asia/Shanghai", "UTC"])).toEqual(["Asia/Shanghai", "UTC", "Africa/Cairo"]);
  expect(zonesFrom("UTC", ["Africa/Cairo"])).toEqual(["UTC", "Africa/Cairo"]);
  const all = zonesFrom(browserZone());
  expect(all.slice(0, 2)).toContain("UTC");
  expect(new Set(all).size).toBe(all.length);
});
