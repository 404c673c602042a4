import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Lines } from "./lines";
import { LogReader } from "./reader";

const choice = { run: "r", task: "t", instance: "0", attempt: "1", worker: "", stream: "" };
/** 60,000 lines of 200 bytes; a cursor is an offset. */
const text = Array.from({ length: 60_000 }, (_, at) => `${`line ${at + 1}`.padEnd(199)}\n`).join("");

let log = text;
let parts: string[] = [];

/** The API for a log that has ended. */
function answer(address: string): Response {
  const url = new URL(address, "http://here");
  if (url.pathname.endsWith("/logs")) return Response.json({ streams: [{ length: log.length }] });
  const [limit, cursor, before] = ["limit", "cursor", "before"].map((name) => url.searchParams.get(name) ?? "");
  const end = before === "end" ? log.length : before ? Number(before) : Math.min(log.length, Number(cursor) + Number(limit));
  const start = before ? Math.max(0, end - Number(limit) + (Number(limit) % 200)) : Number(cursor);
  const from = start - (start % 200);
  const to = end - (end % 200);
  parts.push(`${from / 200}-${to / 200}`);
  const chunks = from < to ? [{ worker: "w", stream: "stdout", offset: from, text: log.slice(from, to) }] : [];
  return Response.json({ chunks, cursor: String(to), ended: to === log.length, ...(from > 0 ? { start: String(from) } : {}) });
}

beforeEach(() => {
  log = text;
  parts = [];
  vi.stubGlobal("fetch", (address: string) => Promise.resolve(answer(address)));
});
afterEach(() => { vi.unstubAllGlobals(); });

function open(): { lines: Lines; reader: LogReader; calls: string[] } {
  const lines = new Lines();
  const calls: string[] = [];
  const reader = new LogReader(choice, lines, {
    appended: () => undefined,
    prepended: (count) => { calls.push(`+${count}`); },
    replaced: (line) => { calls.push(`@${line}`); },
    moved: () => undefined,
    follows: () => false,
    failed: (message) => { throw new Error(message); },
  });
  return { lines, reader, calls };
}

it("reads all of a short log", async () => {
  log = text.slice(0, 20_000 * 200);
  const { lines, reader, calls } = open();
  await reader.open();
  expect([lines.count, reader.isWhole, reader.isEnded, calls]).toEqual([20_000, true, true, []]);
  expect([lines.number(0), lines.number(19_999), lines.highest]).toEqual([1, 20_000, 20_000]);
});

it("reads the end of a long log, then what comes before", async () => {
  const { lines, reader, calls } = open();
  await reader.open();
  const { count } = lines;
  expect([reader.isAtEnd, reader.isAtStart, reader.isApart, reader.total]).toEqual([true, false, false, text.length]);
  expect(lines.at(count - 1).trim()).toBe("line 60000");
  await reader.earlier();
  const more = lines.count - count;
  expect(more).toBeGreaterThan(5000);
  expect(calls).toEqual([`@${count}`, `+${more}`]);
  expect(lines.at(0).trim()).toBe(`line ${60_000 - lines.count + 1}`);
});

it("reads what is around a line, and goes on from there in both directions", async () => {
  const { lines, reader, calls } = open();
  await reader.open();
  await reader.around(String(30_000 * 200));
  const line = Number(calls.at(-1)?.slice(1));
  expect(lines.at(line).trim()).toBe("line 30001");
  expect(lines.line(line)?.cursor).toBe(String(30_000 * 200));
  expect([reader.isAtEnd, reader.isAtStart, reader.isApart]).toEqual([false, false, true]);
  const { count } = lines;
  await reader.later();
  expect(lines.count).toBeGreaterThan(count);
  await reader.earlier();
  const all = Array.from({ length: lines.count }, (_, at) => Number(lines.at(at).slice(5)));
  expect(all.every((number, at) => at === 0 || number === (all[at - 1] ?? 0) + 1)).toBe(true);
});

it("goes to the start and to the end", async () => {
  const { lines, reader } = open();
  await reader.open();
  await reader.toStart();
  expect([reader.isAtStart, reader.isAtEnd, reader.isApart, lines.number(0)]).toEqual([true, false, true, 1]);
  await reader.earlier();
  await reader.around("");
  expect([reader.isAtStart, lines.at(0).trim()]).toEqual([true, "line 1"]);
  await reader.toEnd();
  expect([reader.isAtStart, reader.isAtEnd, reader.isApart]).toEqual([false, true, false]);
  expect(parts).toHaveLength(4);
});

it("starts what was asked last, alone", async () => {
  const { lines, reader } = open();
  await reader.open();
  await Promise.all([reader.toStart(), reader.earlier(), reader.later(), reader.around(String(40_000 * 200))]);
  expect(lines.find({ worker: "w", stream: "stdout", offset: 40_000 * 200 })).toBeGreaterThan(0);
  expect(lines.at(0).trim()).not.toBe("line 1");
});
