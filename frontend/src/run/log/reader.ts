// Reads a log: existing content in large chunks, then new content as it is written.

import { request } from "../../api/client";
import { live, type Live } from "../../core/live";
import type { LineTime, Source } from "./lines";

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

interface Chunk extends Source {
  readonly offset: number;
  readonly text: string;
  /** When its lines arrived; absent for logs written before this was recorded. */
  readonly times?: LineTime[];
}

/** Callbacks of a reader. */
export interface Told {
  /** Called with the next chunk of a stream. */
  text: (source: Source, text: string, times: readonly LineTime[]) => void;
  /** Called when the existing content is complete, with whether more will come. */
  caughtUp: (goesOn: boolean) => void;
  /** Called when the log has ended. */
  ended: () => void;
  /** Whether to stop reading. */
  enough: () => boolean;
  failed: (message: string) => void;
}

/** The query string of a choice, without a question mark. */
export function query(choice: Choice): string {
  const query = new URLSearchParams({ task: choice.task, instance: choice.instance, attempt: choice.attempt });
  if (choice.worker !== "") query.set("worker", choice.worker);
  if (choice.stream !== "") query.set("stream", choice.stream);
  return query.toString();
}

/** The maximum chunk size of the API, in bytes. */
const PIECE = 4 << 20;

/** Reads one log, from its beginning or its last part on. */
export class LogReader {
  readonly #choice: Choice;
  readonly #told: Told;
  readonly #stop = new AbortController();
  #live: Live | undefined;

  constructor(choice: Choice, told: Told) {
    this.#choice = choice;
    this.#told = told;
  }

  /** The current length of the log, in bytes. */
  async length(): Promise<number> {
    const { data } = await request("GET", `/runs/${this.#choice.run}/logs?${query(this.#choice)}`);
    return data.streams.reduce((sum, stream) => sum + stream.length, 0);
  }

  /** Starts reading. `tail` limits the existing content to this many lines per stream. */
  async start(tail?: number): Promise<void> {
    try {
      await this.#read(tail);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#told.failed(error instanceof Error ? error.message : String(error));
    }
  }

  close(): void {
    this.#stop.abort();
    this.#live?.close();
  }

  async #read(tail?: number): Promise<void> {
    let at = tail === undefined ? "" : `&tail=${tail}`;
    for (;;) {
      const path = `/runs/${this.#choice.run}/logs/text?${query(this.#choice)}&limit=${PIECE}${at}` as const;
      const { data } = await request("GET", path, undefined, { signal: this.#stop.signal });
      this.#take(data.chunks);
      at = `&cursor=${encodeURIComponent(data.cursor)}`;
      if (data.ended || data.chunks.length === 0 || this.#told.enough()) {
        const goesOn = !data.ended && !this.#told.enough();
        this.#told.caughtUp(goesOn);
        if (data.ended) this.#told.ended();
        if (goesOn) this.#follow(data.cursor);
        return;
      }
    }
  }

  #take(chunks: readonly Chunk[]): void {
    for (const { worker, stream, text, times = [] } of chunks) this.#told.text({ worker, stream }, text, times);
  }

  #follow(cursor: string): void {
    const path = `/api/v1/runs/${this.#choice.run}/logs/events?${query(this.#choice)}&cursor=${encodeURIComponent(cursor)}`;
    this.#live = live(path, {
      on: {
        log: (data) => {
          this.#take([data as Chunk]);
          if (this.#told.enough()) this.close();
        },
      },
      onEnd: () => { this.#told.ended(); },
    });
  }
}
