// Finding a text in lines, and stepping through what was found.

import { plain } from "./ansi";

/** What is looked for. */
export interface Query {
  readonly text: string;
  /** Whether the text is a regular expression. */
  readonly pattern: boolean;
}

/** A part of a line, in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The expression for a query: without regard to case unless it has capitals; `undefined` when it is none. */
export function expression(query: Query): RegExp | undefined {
  if (query.text === "") return undefined;
  const source = query.pattern ? query.text : query.text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const flags = /\p{Lu}/u.test(query.text) ? "g" : "gi";
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

/** Where it stands in the readable text of a line; never more than 100 times. */
export function spans(text: string, wanted: RegExp): Span[] {
  const found: Span[] = [];
  for (const match of text.matchAll(wanted)) {
    if (match[0] !== "") found.push({ from: match.index, to: match.index + match[0].length });
    if (found.length === 100) break;
  }
  return found;
}

/** The lines, of those from `from` up to `to`, that hold it. */
export function matching(at: (index: number) => string, from: number, to: number, wanted: RegExp): number[] {
  const found: number[] = [];
  for (let index = from; index < to; index += 1) {
    wanted.lastIndex = 0;
    const match = wanted.exec(plain(at(index)));
    if (match !== null && match[0] !== "") found.push(index);
  }
  return found;
}

/** The line found after (`1`) or before (`-1`) a line, going round; -1 when nothing was found. */
export function step(found: readonly number[], line: number, direction: 1 | -1): number {
  const next = direction === 1 ? found.find((at) => at > line) : found.findLast((at) => at < line);
  return next ?? found.at(direction === 1 ? 0 : -1) ?? -1;
}
