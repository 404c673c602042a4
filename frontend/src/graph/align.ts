//! Matches the items of a list with those of a later version of it.

import { isMapping } from "./equal";

/** An item of the old list, of the new list, or of both. */
export interface Aligned {
  readonly before?: number;
  readonly after?: number;
}

/**
 * Merges both lists in one order. Items with the same name (or, without a name, the same value) match if that
 * keeps their order; the remaining items between them are paired by position.
 */
export function aligned(before: readonly unknown[], after: readonly unknown[]): Aligned[] {
  const places = new Map<string, number[]>();
  before.forEach((one, at) => {
    const key = keyOf(one);
    const known = places.get(key);
    if (known) known.push(at);
    else places.set(key, [at]);
  });
  const matches = after.map((one) => places.get(keyOf(one))?.shift() ?? -1);
  const kept = increasing(matches);
  const result: Aligned[] = [];
  let [from, to] = [0, 0];
  const upTo = (beforeEnd: number, afterEnd: number) => {
    while (from < beforeEnd && to < afterEnd) result.push({ before: from++, after: to++ });
    while (from < beforeEnd) result.push({ before: from++ });
    while (to < afterEnd) result.push({ after: to++ });
  };
  for (const at of kept) {
    const match = matches[at] ?? 0;
    upTo(match, at);
    result.push({ before: match, after: at });
    [from, to] = [match + 1, at + 1];
  }
  upTo(before.length, after.length);
  return result;
}

function keyOf(value: unknown): string {
  if (isMapping(value) && typeof value["name"] === "string") return `name ${value["name"]}`;
  return typeof value === "string" ? `text ${value}` : JSON.stringify(value);
}

/** The positions of a longest increasing subsequence among values of at least 0. */
function increasing(values: readonly number[]): number[] {
  const [tails, back]: [number[], number[]] = [[], []];
  values.forEach((value, at) => {
    if (value < 0) return;
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[tails[middle] ?? 0] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    back[at] = low > 0 ? (tails[low - 1] ?? -1) : -1;
    tails[low] = at;
  });
  const row: number[] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = back[at] ?? -1) row.push(at);
  return row.reverse();
}
