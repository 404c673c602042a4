//! Keeps the document's problems up to date. The browser's own checks are immediate and use the server's
//! codes; the server, whose checks are complete, is called shortly after each change. A problem that both
//! find is shown once.

import { request } from "../api/client";
import type { Options } from "../api/http";
import type { Problem } from "../api/problem";
import { moreTexts, t } from "../core/texts";
import type { PipelineDocument } from "../graph/document";
import { worded } from "../graph/finding";
import { joined } from "./joined";
import type { Session } from "./session";

const WAIT_MS = 300;

/** Starts the checks, which repeat after every change. Returns the stop function. */
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
  /** The server's last result, and the browser's result at that time. */
  #server: readonly Problem[] = [];
  #ownThen: readonly Problem[] = [];

  constructor(private readonly session: Session) {}

  /** Called after any state change, most of which leave the document unchanged. */
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

  /** Shows the browser's result, while the server's is for an older document. */
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
      const problems = await problemsOf(this.session, { signal: running.signal });
      const own = document && !this.#broken ? await this.#own(document) : [];
      if (running.signal.aborted) return;
      this.#server = problems;
      this.#ownThen = own;
      if (document === this.#document) this.session.store.set({ problems });
    } catch {
      // The next change retries; saving reports connection errors.
    }
  }
}

/** The server's problems of the present document. */
export async function problemsOf(session: Session, options?: Options): Promise<Problem[]> {
  const { document } = session.store.state;
  // The formatted text, for line numbers; else JSON, whose paths are the same.
  const text = session.state.broken?.text ?? session.source.known(document) ?? JSON.stringify(document);
  const { data } = await request("POST", `/projects/${session.project}/validate`, { document: text }, options);
  return data.problems as Problem[];
}
