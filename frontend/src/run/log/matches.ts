// The matches of a search: those in the loaded lines, and those that the server has found.

import type { Lines, Place } from "./lines";

/** A line that matches. */
export interface Match extends Place {
  /** Its number in its stream, from 1; undefined if unknown. */
  readonly line: number | undefined;
  readonly text: string;
  /** When it arrived, in milliseconds; undefined if unknown. */
  readonly at: number | undefined;
  /** A cursor of the API from which on it can be read. */
  readonly cursor: string;
}

/** Identifies a line. */
export function keyOf({ worker, stream, offset }: Place): string {
  return `${worker} ${stream} ${offset}`;
}

/** Whether both are the same line. */
export function isSame(one: Place, other: Place): boolean {
  return one.offset === other.offset && one.worker === other.worker && one.stream === other.stream;
}

/** A loaded line as a match. */
export function matchAt(lines: Lines, index: number): Match | undefined {
  const line = lines.line(index);
  if (line === undefined) return undefined;
  const { source, text, at, offset, cursor } = line;
  return { ...source, text, at, offset, cursor, line: lines.number(index) };
}

/** The order of lines: by time, then by worker and stream. Lines without a time come last. */
export function compare(one: Match, other: Match): number {
  const [left, right] = [one.at ?? Infinity, other.at ?? Infinity];
  if (left !== right) return left < right ? -1 : 1;
  const [mine, theirs] = [`${one.worker} ${one.stream}`, `${other.worker} ${other.stream}`];
  if (mine !== theirs) return mine < theirs ? -1 : 1;
  return one.offset - other.offset;
}

/** All matches, each once. Without a search on the server, those in the loaded lines keep their order. */
export function merged(remote: readonly Match[] | undefined, local: readonly Match[]): readonly Match[] {
  if (remote === undefined) return local;
  const known = new Set(remote.map(keyOf));
  return [...remote, ...local.filter((match) => !known.has(keyOf(match)))].sort(compare);
}

/** The index of the first match after a line, or of the last one before it (`-1`), wrapping around; -1 for none. */
export function nearest(matches: readonly Match[], line: Match, direction: 1 | -1): number {
  const beyond = (match: Match): boolean => compare(match, line) * direction > 0;
  const found = direction === 1 ? matches.findIndex(beyond) : matches.findLastIndex(beyond);
  return found >= 0 || matches.length === 0 ? found : direction === 1 ? 0 : matches.length - 1;
}
