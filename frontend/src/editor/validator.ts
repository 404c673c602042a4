//! Keeps the problems of the document true. What the browser finds itself is told at once, in the server's codes; the
//! server, which knows all, is asked a moment after each change. What both find is told once.

import { request } from "../api/client";
import type { Problem } from "../api/problem";
import { moreTexts, t } from "../core/texts";
import type { PipelineDocument } from "../graph/document";
import { worded } from "../graph/finding";
import { joined } from "./joined";
import type { Session } from "./session";

const WAIT_MS = 300;

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
  /** What the server said last, and what the browser found when it was asked. */
  #server: readonly Problem[] = [];
  #ownThen: readonly Problem[] = [];

  constructor(private readonly session: Session) {}

  /** Something is other than before; often not the document. */
  changed(): void {
    const { document } = this.session.store.state;
    const { broken } = this.session.state;
    if (document === this.#document && broken === this.#broken) return;
    const first = this.#document === null;
    this.#document = document;
    this.#broken = broken;
    if (!first && !broken) void this.#look(document);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(), first ? 0 : WAIT_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#running?.abort();
  }

  /** Says what the browser finds, while the server's answer is of an older document. */
  async #look(document: PipelineDocument): Promise<void> {
    const own = await this.#own(document);
    if (document === this.#document && !this.#broken) this.session.store.set({ problems: joined(this.#server, own, this.#ownThen) });
  }

  async #own(document: PipelineDocument): Promise<Problem[]> {
    const [{ check }] = await Promise.all([import("../graph/check"), moreTexts("form")]);
    const { templates } = this.session.state.surroundings;
    return check(document, templates.size > 0 ? templates : null).map((finding) => worded(finding, t));
  }

  async #ask(): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const document = this.#document;
    try {
      const { data } = await request("POST", `/projects/${this.session.project}/validate`, { document: this.#text() }, { signal: running.signal });
      const own = document && !this.#broken ? await this.#own(document) : [];
      if (running.signal.aborted) return;
      const problems = data.problems as Problem[];
      this.#server = problems;
      this.#ownThen = own;
      if (document === this.#document) this.session.store.set({ problems });
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
