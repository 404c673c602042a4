//! Keeps the problems of the document true: the server is asked a moment after each change.

import { request } from "../api/client";
import type { Problem } from "../api/problem";
import type { PipelineDocument } from "../graph/document";
import type { Session } from "./session";

const WAIT_MS = 300;

/** What `/validate` answers. */
interface Checked {
  problems: Problem[];
}

/** Begins to check, and goes on with every change. Returns how to stop. */
export function watchProblems(session: Session): () => void {
  const validator = new Validator(session);
  const stops = [session.store.subscribe(() => { validator.changed(); }), session.cell.subscribe(() => { validator.changed(); })];
  validator.changed();
  return () => {
    for (const stop of stops) stop();
    validator.stop();
  };
}

class Validator {
  #document: PipelineDocument | null = null;
  #broken: object | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | null = null;

  constructor(private readonly session: Session) {}

  /** Something is other than before; often not the document. */
  changed(): void {
    const { document } = this.session.store.state;
    const { broken } = this.session.state;
    if (document === this.#document && broken === this.#broken) return;
    const first = this.#document === null;
    this.#document = document;
    this.#broken = broken;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(), first ? 0 : WAIT_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#running?.abort();
  }

  async #ask(): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    try {
      const { data } = await request<Checked>("POST", `/projects/${this.session.project}/validate`, { document: this.#text() }, { signal: running.signal });
      if (!running.signal.aborted) this.session.store.set({ problems: data.problems });
    } catch {
      // The next change asks again; saving says what is wrong with the connection.
    }
  }

  /** As it is written, so that lines are told; else as JSON, whose paths are the same. */
  #text(): string {
    const { document } = this.session.store.state;
    return this.session.state.broken?.text ?? this.session.source.known(document) ?? JSON.stringify(document);
  }
}
