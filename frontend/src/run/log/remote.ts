// A search on the server, in the whole log: it is continued part by part.

import { request } from "../../api/client";
import type { Match } from "./matches";
import { query, type Choice } from "./reader";

/** What to search for: a text with its options, or lines that look like errors. */
export type Wanted = { q: string; regex: string; case: string } | { kind: "error" };

/** The number of matches in one response. */
const PAGE = 1000;

export class Remote {
  readonly #choice: Choice;
  readonly #wanted: Wanted;
  readonly #stop = new AbortController();
  #matches: Match[] = [];
  #next = "";
  /** The number of bytes and lines that were searched. */
  searched = 0;
  lines = 0;
  isComplete = false;
  #work: Promise<boolean> | undefined;
  /** Why the search failed; empty if it did not. */
  failure = "";

  constructor(choice: Choice, wanted: Wanted) {
    this.#choice = choice;
    this.#wanted = wanted;
  }

  /** The matches so far, by their times. */
  get matches(): readonly Match[] {
    return this.#matches;
  }

  get isBusy(): boolean {
    return this.#work !== undefined;
  }

  /** Searches on, or waits for that. Returns whether it was not cancelled. */
  async more(): Promise<boolean> {
    this.#work ??= this.#readOn();
    return this.#work;
  }

  cancel(): void {
    this.#stop.abort();
  }

  async #readOn(): Promise<boolean> {
    this.failure = "";
    try {
      await this.#read();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.failure = error instanceof Error ? error.message : String(error);
    }
    this.#work = undefined;
    return !this.#stop.signal.aborted;
  }

  async #read(): Promise<void> {
    const parameters = { ...this.#wanted, limit: PAGE, cursor: this.#next };
    const path = `/runs/${this.#choice.run}/logs/search?${query(this.#choice, parameters)}` as const;
    const { data } = await request("GET", path, undefined, { signal: this.#stop.signal });
    for (const { worker, stream, offset, line, text, at, cursor } of data.matches) {
      this.#matches.push({ worker, stream, offset, line, text, cursor, at: at == null ? undefined : Date.parse(at) });
    }
    this.searched += data.searched;
    this.lines += data.lines;
    this.#next = data.next_cursor ?? "";
    this.isComplete = data.complete;
  }
}
