// Search in a growing log: the matches, and the current one.

import type { Lines } from "./lines";
import { expression, matching, step, type Query } from "./search";

/** A search in the lines of a log. */
export class Finder {
  readonly #lines: Lines;
  #wanted: RegExp | undefined;
  #found: number[] = [];
  #looked = 0;
  #line = -1;
  /** Whether the input is an invalid regular expression. */
  bad = false;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  /** The search expression. */
  get wanted(): RegExp | undefined {
    return this.#wanted;
  }

  /** The current line; -1 if there is none. */
  get line(): number {
    return this.#line;
  }

  /** The number of matching lines. */
  get count(): number {
    return this.#found.length;
  }

  /** The index of the current match, from 1; 0 if there is none. */
  get place(): number {
    return this.#found.indexOf(this.#line) + 1;
  }

  /** Starts another search, and goes to the first match from a line on. */
  ask(query: Query, from: number): void {
    this.#wanted = expression(query);
    this.bad = query.text !== "" && this.#wanted === undefined;
    this.#found = [];
    this.#looked = 0;
    this.#line = -1;
    this.grown(0);
    if (this.#found.length > 0) this.#line = step(this.#found, from - 1, 1);
  }

  /** Lines from this one on were added or have changed. */
  grown(from: number): void {
    if (this.#wanted === undefined) return;
    const first = Math.min(from, this.#looked);
    this.#found = this.#found.filter((line) => line < first);
    this.#found.push(...matching((line) => this.#lines.at(line), first, this.#lines.count, this.#wanted));
    this.#looked = this.#lines.count;
  }

  /** Goes to the next (1) or the previous (-1) match. */
  step(direction: 1 | -1): void {
    this.#line = step(this.#found, this.#line, direction);
  }
}
