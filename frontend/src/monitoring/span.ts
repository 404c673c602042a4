//! The range of time that all plots of a page share, and what else its address has. Pure.

/** The ranges that end now, in seconds. */
export const RANGES: Readonly<Record<string, number>> = {
  "1h": 3600, "6h": 21_600, "24h": 86_400, "7d": 604_800, "30d": 2_592_000, "90d": 7_776_000,
};
const USUAL = "24h";
/** The server has values for each minute: a shorter range would have few. */
const SHORTEST = 300;
/** As long as the server stores values. */
const LONGEST = 100 * 86_400;

/** A range, in seconds since the epoch. */
export interface Span {
  /** The name of a range that ends now; null for a fixed range. */
  range: string | null;
  from: number;
  until: number;
}

/** The range that ends now. */
export function latest(range: string, now: number): Span {
  const known = Object.hasOwn(RANGES, range) ? range : USUAL;
  return { range: known, from: now - (RANGES[known] ?? 0), until: now };
}

/** The range in an address; the usual one if it has none that is valid. */
export function spanOf(query: URLSearchParams, now: number): Span {
  const [from, until] = ["from", "until"].map((name) => Date.parse(query.get(name) ?? "") / 1000);
  const length = (until ?? 0) - (from ?? 0);
  if (from !== undefined && until !== undefined && length > 0 && length <= LONGEST) return { range: null, from, until };
  return latest(query.get("range") ?? USUAL, now);
}

/** A part of a range, as selected in a plot; the range itself if the part is too short. */
export function zoomed(span: Span, from: number, until: number): Span {
  const begin = Math.max(span.from, Math.min(from, until));
  const end = Math.min(span.until, Math.max(from, until));
  const middle = (begin + end) / 2;
  if (span.until - span.from <= SHORTEST) return span;
  if (end - begin < SHORTEST) return { range: null, from: Math.round(middle - SHORTEST / 2), until: Math.round(middle + SHORTEST / 2) };
  return { range: null, from: Math.floor(begin), until: Math.ceil(end) };
}

/** Twice the range around the same middle, not beyond now. */
export function widened({ from, until }: Span, now: number): Span {
  const length = Math.min(LONGEST, (until - from) * 2);
  const end = Math.min(now, (from + until) / 2 + length / 2);
  return { range: null, from: Math.round(end - length), until: Math.round(end) };
}

/** The same range with both ends, so that it stays what it is. */
export function fixed(span: Span): Span {
  return { ...span, range: null };
}

/** A moment for an address and for the API: `2026-03-01T09:30:00Z`. */
export function moment(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

/** The query of an address with a range; `rest` are its other values, of which empty ones are omitted. */
export function written({ range, from, until }: Span, rest: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(range === null ? { from: moment(from), until: moment(until) } : { range });
  for (const [name, value] of Object.entries(rest)) if (value !== "") query.set(name, value);
  return `?${query.toString()}`;
}
