// Search in lines.

import { plain } from "./ansi";

export interface Query {
  readonly text: string;
  /** Whether the text is a regular expression. */
  readonly pattern: boolean;
}

/** A range of a line, in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The expression of a query: case-insensitive unless it contains capitals; `undefined` if it is invalid. */
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

/** The matches in the readable text of a line, at most 100. */
export function spans(text: string, wanted: RegExp): Span[] {
  const found: Span[] = [];
  for (const match of text.matchAll(wanted)) {
    if (match[0] !== "") found.push({ from: match.index, to: match.index + match[0].length });
    if (found.length === 100) break;
  }
  return found;
}

/** The matching lines from `from` up to `to`. */
export function matching(at: (index: number) => string, from: number, to: number, wanted: RegExp): number[] {
  const found: number[] = [];
  for (let index = from; index < to; index += 1) {
    wanted.lastIndex = 0;
    const match = wanted.exec(plain(at(index)));
    if (match !== null && match[0] !== "") found.push(index);
  }
  return found;
}
