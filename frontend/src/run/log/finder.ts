// Search in the loaded lines of a log, which grow.

import type { Lines } from "./lines";
import { expression, matching, type Query } from "./search";

/** A search in the lines of a log. */
export class Finder {
  readonly #lines: Lines;
  #wanted: RegExp | undefined;
  #found: number[] = [];
  #looked = 0;
  /** Whether the input is an invalid regular expression. */
  bad = false;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  /** The search expression. */
  get wanted(): RegExp | undefined {
    return this.#wanted;
  }

  /** The matching lines. */
  get found(): readonly number[] {
    return this.#found;
  }

  /** Starts another search. */
  ask(query: Query): void {
    this.#wanted = expression(query);
    this.bad = query.text !== "" && this.#wanted === undefined;
    this.replaced();
  }

  /** All lines were replaced. */
  replaced(): void {
    this.#found = [];
    this.#looked = 0;
    this.grown(0);
  }

  /** Lines from this one on were added or have changed. */
  grown(from: number): void {
    if (this.#wanted === undefined) return;
    const first = Math.min(from, this.#looked);
    this.#found = this.#found.filter((line) => line < first);
    this.#found.push(...this.#matching(first, this.#lines.count));
    this.#looked = this.#lines.count;
  }

  /** This many lines were added before all others. */
  prepended(count: number): void {
    this.#found = [...this.#matching(0, count), ...this.#found.map((line) => line + count)];
    this.#looked += count;
  }

  #matching(from: number, to: number): number[] {
    return this.#wanted === undefined ? [] : matching((line) => this.#lines.at(line), from, to, this.#wanted);
  }
}
