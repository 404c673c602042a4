//! What would become of each task if the pipeline were run now: asked of the server after a pause in the work, and once in a
//! while, as others' jobs come and go. Nothing is asked while a run is shown, or while the document has mistakes.

import { request } from "../api/client";
import type { Schema } from "../api/typed";
import type { Session } from "./session";

/** What would become of a task. */
export type TaskOutlook = Schema<"TaskForecastView">;

/** How long nobody has changed anything before it is asked, in milliseconds. */
const PAUSE = 1200;
/** How long an answer is good. */
const GOOD = 60_000;

/** Begins to ask, and goes on with every change. Returns how to stop. */
export function watchOutlook(session: Session): () => void {
  const asker = new Asker(session);
  const changed = (): void => { asker.changed(); };
  const stops = [session.store.subscribe(changed), session.cell.subscribe(changed)];
  document.addEventListener("visibilitychange", changed);
  changed();
  return () => {
    for (const stop of stops) stop();
    document.removeEventListener("visibilitychange", changed);
    asker.stop();
  };
}

class Asker {
  /** What was asked of last, and when. */
  #asked: object | null = null;
  #at = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | null = null;

  constructor(private readonly session: Session) {}

  /** Something is other than before; often not the document. */
  changed(): void {
    const { document: pipeline } = this.session.store.state;
    clearTimeout(this.#timer);
    if (!this.#may()) {
      this.#running?.abort();
      this.#asked = null;
      this.#show(null);
      return;
    }
    const old = this.#asked !== pipeline;
    const wait = old ? PAUSE : Math.max(PAUSE, this.#at + GOOD - performance.now());
    this.#timer = setTimeout(() => void this.#ask(), wait);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#running?.abort();
  }

  #may(): boolean {
    const { document: pipeline, live, problems } = this.session.store.state;
    // What can never fit is told at its task, and is no reason to say nothing of the others.
    const wrong = problems.some(({ severity, code }) => severity === "error" && code !== "never_fits");
    return pipeline.tasks.length > 0 && live === null && !this.session.state.broken && !wrong;
  }

  #show(outlook: ReadonlyMap<string, TaskOutlook> | null): void {
    if (this.session.store.state.outlook !== outlook) this.session.store.set({ outlook });
  }

  async #ask(): Promise<void> {
    if (window.document.visibilityState === "hidden") return;
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const { store, project, code } = this.session;
    const pipeline = store.state.document;
    this.#at = performance.now();
    this.#asked = pipeline;
    const body = { document: this.session.source.known(pipeline) ?? JSON.stringify(pipeline), ...(code === null ? {} : { code }) };
    try {
      const { data } = await request("POST", `/projects/${project}/forecast`, body, { signal: running.signal });
      if (running.signal.aborted || pipeline !== store.state.document) return;
      // A parameter without a value, say: nothing can be said before it is given.
      this.#show(data.problems.length > 0 ? null : new Map(data.tasks.map((task) => [task.task, task])));
    } catch {
      // The server is away: nothing is said. The next change asks again.
      if (!running.signal.aborted) this.#show(null);
    }
    this.changed();
  }
}
