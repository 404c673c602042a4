// Finding in a log that grows: what was found, and where one is.

import type { Lines } from "./lines";
import { expression, matching, step, type Query } from "./search";

/** What is looked for in the lines of a log. */
export class Finder {
  readonly #lines: Lines;
  #wanted: RegExp | undefined;
  #found: number[] = [];
  #looked = 0;
  #line = -1;
  /** Whether what was typed is not an expression. */
  bad = false;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  /** What is looked for. */
  get wanted(): RegExp | undefined {
    return this.#wanted;
  }

  /** The line that was stepped to; -1 before. */
  get line(): number {
    return this.#line;
  }

  /** How many lines hold it. */
  get count(): number {
    return this.#found.length;
  }

  /** Which of them was stepped to, from 1; 0 before. */
  get place(): number {
    return this.#found.indexOf(this.#line) + 1;
  }

  /** Looks for something else, and steps to the first match from a line on. */
  ask(query: Query, from: number): void {
    this.#wanted = expression(query);
    this.bad = query.text !== "" && this.#wanted === undefined;
    this.#found = [];
    this.#looked = 0;
    this.#line = -1;
    this.grown(0);
    if (this.#found.length > 0) this.#line = step(this.#found, from - 1, 1);
  }

  /** Lines were added or have changed, from this one on. */
  grown(from: number): void {
    if (this.#wanted === undefined) return;
    const first = Math.min(from, this.#looked);
    this.#found = this.#found.filter((line) => line < first);
    this.#found.push(...matching((line) => this.#lines.at(line), first, this.#lines.count, this.#wanted));
    this.#looked = this.#lines.count;
  }

  /** Steps to the next (1) or the previous (-1) match. */
  step(direction: 1 | -1): void {
    this.#line = step(this.#found, this.#line, direction);
  }
}
