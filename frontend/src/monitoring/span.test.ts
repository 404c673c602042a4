import { expect, test } from "vitest";
import { fixed, latest, moment, spanOf, widened, written, zoomed } from "./span";

const NOW = Date.parse("2026-03-01T12:00:00Z") / 1000;
const of = (query: string) => spanOf(new URLSearchParams(query), NOW);

test("an address has a range that ends now, or a fixed one", () => {
  expect(of("range=1h")).toEqual({ range: "1h", from: NOW - 3600, until: NOW });
  expect(of("from=2026-03-01T10:00:00Z&until=2026-03-01T11:00:00Z&range=1h")).toEqual({ range: null, from: NOW - 7200, until: NOW - 3600 });
  for (const wrong of ["", "range=2y", "range=constructor", "from=2026-03-01T10:00:00Z", "from=x&until=y", "from=2026-03-01T11:00:00Z&until=2026-03-01T10:00:00Z", "from=2020-01-01T00:00:00Z&until=2026-03-01T10:00:00Z"]) {
    expect(of(wrong), wrong).toEqual(latest("24h", NOW));
  }
});

test("what is written is read again", () => {
  expect(written(latest("7d", NOW), { by: "user", idle: "" })).toBe("?range=7d&by=user");
  const span = fixed(latest("1h", NOW));
  expect(of(written(span, { by: "user" }).slice(1))).toEqual(span);
  expect(moment(NOW + 0.25)).toBe("2026-03-01T12:00:00Z");
});

test("a selection is a part of the range, and not too short", () => {
  const span = latest("1h", NOW);
  expect(zoomed(span, NOW - 600, NOW - 1800)).toEqual({ range: null, from: NOW - 1800, until: NOW - 600 });
  expect(zoomed(span, NOW - 7200, NOW - 1800)).toEqual({ range: null, from: NOW - 3600, until: NOW - 1800 });
  const short = zoomed(span, NOW - 1000, NOW - 990);
  expect([short.until - short.from, (short.until + short.from) / 2]).toEqual([300, NOW - 995]);
  expect(zoomed(short, NOW - 1000, NOW - 990)).toEqual(short);
});

test("a wider range does not end in the future, and is not longer than what is stored", () => {
  const span = zoomed(latest("1h", NOW), NOW - 1800, NOW - 1200);
  expect(widened(span, NOW)).toEqual({ range: null, from: NOW - 2100, until: NOW - 900 });
  expect(widened(latest("1h", NOW), NOW)).toEqual({ range: null, from: NOW - 7200, until: NOW });
  const longest = widened(latest("90d", NOW), NOW);
  expect(longest.until - longest.from).toBe(100 * 86_400);
});
