// The lines of a log as far as they were read. Streams of several workers arrive in pieces, one between another; a
// piece may end within a line, and the next piece of the same stream goes on there.

/** Who wrote a line. */
export interface Source {
  readonly worker: string;
  /** `stdout` or `stderr`. */
  readonly stream: string;
}

/** From a line of a piece on, lines came at this moment (RFC 3339), up to where the next one of these begins. */
export interface LineTime {
  /** The line in the piece, from 0. */
  readonly line: number;
  readonly at: string;
}

interface Line {
  readonly source: Source;
  text: string;
  /** When its beginning came, in milliseconds; undefined where nobody knows. */
  readonly at: number | undefined;
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

  /** When it came, in milliseconds, where that is known. */
  time(index: number): number | undefined {
    return this.#lines[index]?.at;
  }

  /** A piece that follows. Returns the first line that is new or has changed. */
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

  /** Forgets everything. */
  clear(): void {
    this.#lines.length = 0;
    this.#open.clear();
  }
}

/** Says, line after line of a piece, when each came. */
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
