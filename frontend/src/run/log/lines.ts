// The lines of a log read so far. Streams of several workers arrive in interleaved chunks; a chunk may end
// within a line, which the next chunk of the same stream continues.

/** The source of a line. */
export interface Source {
  readonly worker: string;
  /** `stdout` or `stderr`. */
  readonly stream: string;
}

/** Lines of a chunk arrived at this time (RFC 3339), from `line` on up to the next entry. */
export interface LineTime {
  /** The line's index in the chunk, from 0. */
  readonly line: number;
  readonly at: string;
}

interface Line {
  readonly source: Source;
  text: string;
  /** When its beginning arrived, in milliseconds; undefined if unknown. */
  readonly at: number | undefined;
}

/** Lines, in reading order. */
export class Lines {
  readonly #lines: Line[] = [];
  /** By worker and stream: the index of the unfinished line. */
  readonly #open = new Map<string, number>();

  get count(): number {
    return this.#lines.length;
  }

  /** The text of a line, by its index from 0. */
  at(index: number): string {
    return this.#lines[index]?.text ?? "";
  }

  source(index: number): Source | undefined {
    return this.#lines[index]?.source;
  }

  /** When a line arrived, in milliseconds; undefined if unknown. */
  time(index: number): number | undefined {
    return this.#lines[index]?.at;
  }

  /** Appends a chunk. Returns the first line that is new or has changed. */
  append(source: Source, text: string, times: readonly LineTime[] = []): number {
    const key = `${source.worker} ${source.stream}`;
    const open = this.#open.get(key);
    const parts = text.split("\n");
    const rest = parts.pop() ?? "";
    const first = open ?? this.#lines.length;
    let goesOn = open;
    const came = clock(times);
    const put = (part: string): number => {
      const line = goesOn === undefined ? undefined : this.#lines[goesOn];
      const at = came();
      if (line === undefined) return this.#lines.push({ source, text: part, at }) - 1;
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

  /** Removes all lines. */
  clear(): void {
    this.#lines.length = 0;
    this.#open.clear();
  }
}

/** Returns the arrival time of each line of a chunk in turn. */
function clock(times: readonly LineTime[]): () => number | undefined {
  let [line, next, at]: [number, number, number | undefined] = [0, 0, undefined];
  return () => {
    for (let time = times[next]; time !== undefined && time.line <= line; time = times[next]) {
      at = Date.parse(time.at);
      next += 1;
    }
    line += 1;
    return at;
  };
}
