// The loaded lines of a log: a window of it, which grows at both ends. Streams of several workers arrive in
// interleaved chunks; a chunk may end within a line, which the next chunk of the same stream continues.

/** The source of a line. */
export interface Source {
  readonly worker: string;
  /** `stdout` or `stderr`. */
  readonly stream: string;
}

/** A position in a log, in bytes of its stream. */
export interface Place extends Source {
  readonly offset: number;
}

/** Lines of a chunk arrived at this time (RFC 3339), from `line` on up to the next entry. */
export interface LineTime {
  /** The line's index in the chunk, from 0. */
  readonly line: number;
  readonly at: string;
}

/** A part of a stream. */
export interface Chunk extends Place {
  readonly text: string;
  /** When its lines arrived; absent for logs written before this was recorded. */
  readonly times?: readonly LineTime[];
}

/** A loaded line. */
export interface Line {
  readonly source: Source;
  readonly text: string;
  /** When its beginning arrived, in milliseconds; undefined if unknown. */
  readonly at: number | undefined;
  /** Position of its beginning. Bytes that are not UTF-8 make it inexact until the next chunk. */
  readonly offset: number;
  /** A cursor of the API from which on the line can be read again. */
  readonly cursor: string;
}

interface Kept extends Line {
  text: string;
  /** Position among the loaded lines of its stream; negative before the first ones that were loaded. */
  place: number;
}

interface Stream {
  readonly source: Source;
  /** The last line, if it has no end yet. */
  open: Kept | undefined;
  /** Place of its first line. */
  first: number;
  /** Place after its last line. */
  next: number;
  /** The line number of place 0, if known. */
  base: number | undefined;
}

/** The size of a text in UTF-8. A replacement character stands for one byte that could not be read. */
export function sizeOf(text: string): number {
  let size = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isHalf = code >= 0xd800 && code < 0xe000;
    size += code < 0x80 || code === 0xfffd ? 1 : code < 0x800 || isHalf ? 2 : 3;
  }
  return size;
}

const keyOf = (source: Source): string => `${source.worker} ${source.stream}`;

/** Lines, in reading order. */
export class Lines {
  #lines: Kept[] = [];
  readonly #streams = new Map<string, Stream>();
  #bytes = 0;

  get count(): number {
    return this.#lines.length;
  }

  /** The size of the loaded text, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  line(index: number): Line | undefined {
    return this.#lines[index];
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

  /** The number of a line in its stream, from 1; undefined if unknown. */
  number(index: number): number | undefined {
    const line = this.#lines[index];
    if (line === undefined) return undefined;
    const base = this.#streams.get(keyOf(line.source))?.base;
    return base === undefined ? undefined : base + line.place;
  }

  /** The largest known line number; 0 if none is known. */
  get highest(): number {
    const last = ({ base, next }: Stream): number => (base === undefined ? 0 : base + next - 1);
    return Math.max(0, ...[...this.#streams.values()].map(last));
  }

  /** Appends a chunk, which can be read again from `cursor` on. Returns the first line that is new or has changed. */
  append(chunk: Chunk, cursor = ""): number {
    const stream = this.#stream(chunk);
    // The beginning of a stream is its first line.
    if (stream.first === stream.next && chunk.offset === 0) stream.base = 1 - stream.next;
    const texts = chunk.text.split("\n");
    // Nothing follows the last end of a line.
    const ended = texts.length - 1;
    if (texts[ended] === "") texts.pop();
    const first = stream.open === undefined ? this.#lines.length : this.#lines.lastIndexOf(stream.open);
    const came = clock(chunk.times ?? []);
    let { offset } = chunk;
    for (const [index, text] of texts.entries()) {
      const at = came();
      let line = stream.open;
      if (line === undefined) {
        line = { source: stream.source, text, at, offset, cursor, place: stream.next };
        stream.next += 1;
        this.#lines.push(line);
      } else line.text += text;
      stream.open = index < ended ? undefined : line;
      offset += sizeOf(text) + (index < ended ? 1 : 0);
    }
    this.#bytes += offset - chunk.offset;
    return first;
  }

  /** Puts chunks before all lines, which can be read again from `cursor` on. Returns the number of their lines. */
  prepend(chunks: readonly Chunk[], cursor = ""): number {
    const earlier = new Lines();
    for (const chunk of chunks) earlier.append(chunk, cursor);
    for (const theirs of earlier.#streams.values()) {
      const own = this.#stream(theirs.source);
      const by = own.first - theirs.next;
      for (const line of earlier.#lines) if (line.source === theirs.source) line.place += by;
      own.first -= theirs.next;
      if (theirs.base !== undefined) own.base ??= theirs.base - by;
    }
    this.#lines = [...earlier.#lines, ...this.#lines];
    this.#bytes += earlier.#bytes;
    return earlier.count;
  }

  /** Takes line numbers from lines whose numbers are known. Returns whether that tells numbers of loaded lines. */
  learn(known: Iterable<Place & { readonly line?: number | undefined }>): boolean {
    const numbers = new Map<Source, Map<number, number>>();
    for (const place of known) {
      const stream = this.#streams.get(keyOf(place));
      if (stream === undefined || stream.base !== undefined || place.line === undefined) continue;
      const ofStream = numbers.get(stream.source) ?? new Map<number, number>();
      numbers.set(stream.source, ofStream.set(place.offset, place.line));
    }
    let learned = false;
    for (const line of numbers.size === 0 ? [] : this.#lines) {
      const number = numbers.get(line.source)?.get(line.offset);
      if (number === undefined) continue;
      this.#stream(line.source).base = number - line.place;
      numbers.delete(line.source);
      learned = true;
    }
    return learned;
  }

  /** The index of the line that contains a position; -1 if it is not loaded. */
  find({ offset, ...source }: Place): number {
    const own = this.#streams.get(keyOf(source))?.source;
    let found = -1;
    for (const [index, line] of this.#lines.entries()) {
      if (line.source !== own) continue;
      if (line.offset > offset) return found;
      found = index;
    }
    // The last line ends with what is loaded.
    const last = this.#lines[found];
    return last !== undefined && offset <= last.offset + sizeOf(last.text) ? found : -1;
  }

  /** Removes all lines. */
  clear(): void {
    this.#lines = [];
    this.#streams.clear();
    this.#bytes = 0;
  }

  #stream({ worker, stream }: Source): Stream {
    const key = keyOf({ worker, stream });
    let known = this.#streams.get(key);
    if (known === undefined) {
      known = { source: { worker, stream }, open: undefined, first: 0, next: 0, base: undefined };
      this.#streams.set(key, known);
    }
    return known;
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
