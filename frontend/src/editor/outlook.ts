//! The forecast of each task if the pipeline ran now. It is requested after a pause in editing, and
//! periodically, as other jobs come and go. Nothing is requested while a run is shown, or while the document
//! has errors.

import { request } from "../api/client";
import type { Schema } from "../api/typed";
import type { Session } from "./session";

/** The forecast of a task. */
export type TaskOutlook = Schema<"TaskForecastView">;

/** The delay after the last change before a request, in milliseconds. */
const PAUSE = 1200;
/** How long a response is fresh, in milliseconds. */
const GOOD = 60_000;

/** Starts the requests, which repeat after every change. Returns the stop function. */
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
  /** The subject of the last request, and its time. */
  #asked: object | null = null;
  #at = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | null = null;

  constructor(private readonly session: Session) {}

  /** Called after any state change, most of which leave the document unchanged. */
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
    // A task that never fits shows that itself, and does not prevent the forecast of the others.
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
      // For example, a parameter has no value: no forecast is possible without it.
      this.#show(data.problems.length > 0 ? null : new Map(data.tasks.map((task) => [task.task, task])));
    } catch {
      // The server is unreachable: shows nothing. The next change retries.
      if (!running.signal.aborted) this.#show(null);
    }
    this.changed();
  }
}
