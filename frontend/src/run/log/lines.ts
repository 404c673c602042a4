// The lines of a log as far as they were read. Streams of several workers arrive in pieces, one between another; a
// piece may end within a line, and the next piece of the same stream goes on there.

/** Who wrote a line. */
export interface Source {
  readonly worker: string;
  /** `stdout` or `stderr`. */
  readonly stream: string;
}

interface Line {
  readonly source: Source;
  text: string;
}

/** Lines in the order in which they were read. */
export class Lines {
  readonly #lines: Line[] = [];
  /** By worker and stream: where the line is that has not ended. */
  readonly #open = new Map<string, number>();

  /** How many lines there are. */
  get count(): number {
    return this.#lines.length;
  }

  /** The text of a line, by its position from 0. */
  at(index: number): string {
    return this.#lines[index]?.text ?? "";
  }

  /** Who wrote it. */
  source(index: number): Source | undefined {
    return this.#lines[index]?.source;
  }

  /** A piece that follows. Returns the first line that is new or has changed. */
  append(source: Source, text: string): number {
    const key = `${source.worker} ${source.stream}`;
    const open = this.#open.get(key);
    const parts = text.split("\n");
    const rest = parts.pop() ?? "";
    const first = open ?? this.#lines.length;
    let goesOn = open;
    const put = (part: string): number => {
      const line = goesOn === undefined ? undefined : this.#lines[goesOn];
      if (line === undefined) return this.#lines.push({ source, text: part }) - 1;
      line.text += part;
      return goesOn ?? 0;
    };
    for (const part of parts) {
      put(part);
      goesOn = undefined;
    }
    if (rest === "" && goesOn === undefined) this.#open.delete(key);
    else this.#open.set(key, put(rest));
    return first;
  }

  /** Forgets everything. */
  clear(): void {
    this.#lines.length = 0;
    this.#open.clear();
  }
}
