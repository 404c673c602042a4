// The lines of a log as far as they were read: a window of the whole that grows at both ends.

/** Lines that grow at both ends; the text may be cut anywhere, also within a line. */
export class Lines {
  #lines: string[] = [""];

  /** How many lines there are; an unfinished last line counts once it has a character. */
  get count(): number {
    return this.#lines.length - (this.#lines.at(-1) === "" ? 1 : 0);
  }

  /** The line at a position, from 0. */
  at(index: number): string {
    return this.#lines[index] ?? "";
  }

  /** Text that follows. Returns the first line that is new or has changed. */
  append(text: string): number {
    const first = this.#lines.length - 1;
    const parts = text.split("\n");
    this.#lines[first] += parts[0] ?? "";
    for (let at = 1; at < parts.length; at += 1) this.#lines.push(parts[at] ?? "");
    return first;
  }

  /** Text that comes before. Returns by how many lines the present ones have moved down. */
  prepend(text: string): number {
    const parts = text.split("\n");
    const last = parts.length - 1;
    parts[last] += this.#lines[0] ?? "";
    this.#lines = parts.concat(this.#lines.slice(1));
    return last;
  }

  /** Forgets everything. */
  clear(): void {
    this.#lines = [""];
  }
}
