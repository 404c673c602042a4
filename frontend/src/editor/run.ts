//! The run on the canvas, and the pipeline's recent runs.

import { request } from "../api/client";
import { trying } from "../core/form";
import { goTo } from "../form/jump";
import { RunWatch, type Run } from "./live";
import type { Session } from "./session";

const HASH = "#run/";
const TASK = "#task/";
const watches = new WeakMap<Session, RunWatch>();

/** Shows a run's states on the canvas; `null` shows none. The URL remembers it. */
export function show(session: Session, run: string | null): void {
  watches.get(session)?.close();
  watches.delete(session);
  session.cell.set({ run: null, log: null });
  history.replaceState(null, "", run === null ? location.pathname + location.search : HASH + run);
  if (run === null) return;
  watches.set(session, new RunWatch(session.store, run, (known) => {
    if (known === null) show(session, null);
    else session.cell.set({ run: known });
  }));
}

/** Shows the run in the URL, or selects its task. Returns the unsubscribe function. */
export function followAddress(session: Session): () => void {
  if (location.hash.startsWith(HASH)) show(session, location.hash.slice(HASH.length));
  if (location.hash.startsWith(TASK)) {
    const name = location.hash.slice(TASK.length);
    const index = session.store.state.document.tasks.findIndex((task) => task.name === name);
    if (index >= 0) goTo(session.store, `/tasks/${index}`);
  }
  return () => { watches.get(session)?.close(); };
}

/** The recent runs of the pipeline, newest first. */
export async function lastRuns(session: Session): Promise<Run[]> {
  const { stored } = session.state;
  if (!stored) return [];
  const { data } = await request("GET", `/projects/${session.project}/runs?pipeline=${stored.pipeline}&limit=8`);
  return data.items;
}

/** Cancels the shown run. */
export async function cancel(session: Session): Promise<void> {
  const { run } = session.state;
  if (!run) return;
  await trying(async () => { await request("POST", `/runs/${run.id}/cancel`); });
}
