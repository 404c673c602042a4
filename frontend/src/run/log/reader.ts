// Loads parts of a log: all of a short one, the end of a long one, what is around a line, and more at both ends.
// At the end of the log, it is followed.

import { request } from "../../api/client";
import type { Schema } from "../../api/typed";
import { live, type Live } from "../../core/live";
import type { Chunk, Lines } from "./lines";

/** The selected log. */
export interface Choice {
  readonly run: string;
  readonly task: string;
  readonly instance: string;
  readonly attempt: string;
  /** Only this worker; all if empty. */
  readonly worker: string;
  /** Only this stream; both if empty. */
  readonly stream: string;
}

/** Callbacks of a reader. */
export interface ReaderEvents {
  /** Lines from this one on are new or have changed. */
  appended: (first: number) => void;
  /** This many lines were put before all others. */
  prepended: (count: number) => void;
  /** All lines were replaced; the log is read from this line on. */
  replaced: (line: number) => void;
  /** What is loaded or the state of the log has changed. */
  moved: () => void;
  /** Whether the user follows the end of the log. */
  follows: () => boolean;
  failed: (message: string) => void;
}

/** The query string of a choice and of further parameters, without a question mark. */
export function query(choice: Choice, more: Record<string, string | number> = {}): string {
  const query = new URLSearchParams({ task: choice.task, instance: choice.instance, attempt: choice.attempt });
  if (choice.worker !== "") query.set("worker", choice.worker);
  if (choice.stream !== "") query.set("stream", choice.stream);
  for (const [name, value] of Object.entries(more)) query.set(name, String(value));
  return query.toString();
}

type Part = Schema<"LogText">;

/** The maximum size of a response, in bytes. A log with more is read from its end. */
const MOST = 4 << 20;
/** The size of the end of a long log, and of further parts, in bytes. */
const PART = 1 << 20;
/** How much is loaded before a line that is read, in bytes. */
const BEFORE = 256 << 10;
/** With more than this, what is far away is removed. */
const MOST_LINES = 300_000;
const MOST_BYTES = 96 << 20;

/** Reads one log into `lines`. */
export class LogReader {
  readonly #choice: Choice;
  readonly #lines: Lines;
  readonly #on: ReaderEvents;
  #stop = new AbortController();
  #live: Live | undefined;
  #isBusy = false;
  /** Cursor of what comes before; undefined at the beginning of the log. */
  #start: string | undefined;
  /** Cursor of what comes next. */
  #end = "";
  /** Whether a part was chosen that may end before the log does. */
  isApart = false;
  /** Whether the log is complete: nothing is added. */
  isEnded = false;
  /** Whether the end of the log is loaded. */
  isAtEnd = false;
  /** The size of the log so far, in bytes. */
  total = 0;

  constructor(choice: Choice, lines: Lines, on: ReaderEvents) {
    this.#choice = choice;
    this.#lines = lines;
    this.#on = on;
  }

  /** Whether the beginning of the log is loaded. */
  get isAtStart(): boolean {
    return this.#start === undefined;
  }

  /** Whether the log is read for the first time. */
  get isOpening(): boolean {
    return !this.isAtEnd && !this.isApart;
  }

  /** Whether all of the log is loaded. */
  get isWhole(): boolean {
    return this.isAtStart && this.isAtEnd;
  }

  /** Reads the log, or the end of a long one. */
  async open(): Promise<void> {
    await this.#work(async (signal) => {
      const { data } = await request("GET", `/runs/${this.#choice.run}/logs?${query(this.#choice)}`, undefined, { signal });
      this.total = data.streams.reduce((sum, stream) => sum + stream.length, 0);
      if (this.total > MOST) await this.#readEnd(signal);
      else while (!this.isAtEnd) this.#take(await this.#text({ cursor: this.#end, limit: MOST }, signal));
    });
  }

  /** Reads the end, and follows it. */
  async toEnd(): Promise<void> {
    await this.#jump((signal) => this.#readEnd(signal));
  }

  /** Reads the beginning. */
  async toStart(): Promise<void> {
    await this.#jump(async (signal) => {
      const part = await this.#text({ limit: PART }, signal);
      this.#replace(part.start, "");
      this.#take(part);
      this.#on.replaced(0);
    });
  }

  /** Reads what is around a cursor. */
  async around(cursor: string): Promise<void> {
    if (cursor === "") return this.toStart();
    return this.#jump(async (signal) => {
      const [before, after] = await Promise.all([
        this.#text({ before: cursor, limit: BEFORE }, signal),
        this.#text({ cursor, limit: PART }, signal),
      ]);
      this.#replace(before.start, before.start ?? "");
      for (const chunk of before.chunks) this.#lines.append(chunk, this.#end);
      const line = this.#lines.count;
      this.#end = cursor;
      this.#take(after);
      this.#on.replaced(line);
    });
  }

  /** Loads what comes before. */
  async earlier(): Promise<void> {
    const start = this.#start;
    if (start === undefined || this.#isBusy) return;
    if (this.#isFull) return this.around(start);
    await this.#work(async (signal) => {
      const part = await this.#text({ before: start, limit: PART }, signal);
      this.#start = part.chunks.length === 0 ? undefined : (part.start ?? undefined);
      this.#on.prepended(this.#lines.prepend(part.chunks, part.start ?? ""));
    });
  }

  /** Loads what comes next. */
  async later(): Promise<void> {
    if (this.isAtEnd || this.#isBusy) return;
    if (this.#isFull) return this.around(this.#end);
    await this.#work(async (signal) => { this.#take(await this.#text({ cursor: this.#end, limit: PART }, signal)); });
  }

  close(): void {
    this.#stop.abort();
    this.#live?.close();
  }

  get #isFull(): boolean {
    return this.#lines.count > MOST_LINES || this.#lines.bytes > MOST_BYTES;
  }

  /** Gives up what is being read, and reads something else. */
  async #jump(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.close();
    this.#stop = new AbortController();
    this.isApart = true;
    await this.#work(work);
  }

  async #work(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    this.#isBusy = true;
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) this.#on.failed(error instanceof Error ? error.message : String(error));
    }
    if (signal !== this.#stop.signal) return;
    this.#isBusy = false;
    this.#on.moved();
  }

  async #text(part: { cursor?: string; before?: string; limit: number }, signal: AbortSignal): Promise<Part> {
    const path = `/runs/${this.#choice.run}/logs/text?${query(this.#choice, part)}` as const;
    const { data } = await request("GET", path, undefined, { signal });
    return data;
  }

  async #readEnd(signal: AbortSignal): Promise<void> {
    const part = await this.#text({ before: "end", limit: PART }, signal);
    this.#replace(part.start, part.start ?? "");
    this.#take(part);
    this.#on.replaced(this.#lines.count);
    if (!this.isAtEnd) this.#follow();
  }

  /** Removes all lines, for others. */
  #replace(start: string | null | undefined, end: string): void {
    this.#lines.clear();
    this.#start = start ?? undefined;
    this.#end = end;
    this.isAtEnd = false;
  }

  /** Takes what comes next. */
  #take(part: Part): void {
    this.#append(part.chunks, part.cursor);
    if (part.ended) {
      this.isEnded = this.isAtEnd = true;
      this.isApart = false;
    } else if (part.chunks.length === 0) this.#follow();
  }

  #append(chunks: readonly Chunk[], cursor: string): void {
    let first = this.#lines.count;
    for (const chunk of chunks) first = Math.min(first, this.#lines.append(chunk, this.#end));
    this.#end = cursor;
    this.#on.appended(first);
  }

  #follow(): void {
    this.isAtEnd = true;
    this.isApart = false;
    const path = `/api/v1/runs/${this.#choice.run}/logs/events?${query(this.#choice, { cursor: this.#end })}`;
    this.#live = live(path, {
      on: { log: (data, id) => { this.#came(data as Chunk, id); } },
      onEnd: () => {
        this.isEnded = true;
        this.#on.moved();
      },
    });
  }

  /** Takes what was just written. */
  #came(chunk: Chunk, cursor: string): void {
    const had = this.#lines.bytes;
    this.#append([chunk], cursor);
    this.total += this.#lines.bytes - had;
    if (!this.#isFull) return;
    if (this.#on.follows()) void this.toEnd();
    else {
      this.#live?.close();
      this.isAtEnd = false;
      this.isApart = true;
    }
  }
}
