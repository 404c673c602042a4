//! Runs from the editor: saves unsaved changes first, then shows the run on the canvas.

import { request } from "../api/client";
import { trying } from "../core/form";
import { t } from "../core/texts";
import { toast } from "../core/toast";
import { askStartOf, type StartOptions } from "../pipelines/start";
import { goTo } from "../form/jump";
import { taskOf } from "../graph/document";
import { RunWatch, type Run } from "./live";
import { storedFirst } from "./save";
import type { Session } from "./session";

const HASH = "#run/";
const TASK = "#task/";
const watches = new WeakMap<Session, RunWatch>();

/** The part of the pipeline to run. */
export type Part = { from: string } | { only: string } | null;

/** Asks for confirmations and parameters, then starts a run and shows it on the canvas. */
export async function start(session: Session, part: Part): Promise<void> {
  const question = { title: t("editor.run-save"), text: t("editor.run-save-text"), action: t("editor.run-save-action") };
  if (!(await storedFirst(session, question))) return;
  const pipeline = session.state.stored?.pipeline;
  if (pipeline === undefined) return;
  const options: StartOptions = {
    ...(part ? { tasks: part, takesOver: needsOthers(session, part) } : {}),
    title: titleOf(pipeline, part),
    onStarted: (run, warnings) => {
      for (const { message } of warnings.slice(0, 3)) toast(message);
      show(session, run);
    },
  };
  await askStartOf(session.project, pipeline, options);
}

function needsOthers(session: Session, part: NonNullable<Part>): boolean {
  const task = taskOf(session.store.state.document, "from" in part ? part.from : part.only);
  return (task?.needs?.length ?? 0) > 0;
}

function titleOf(pipeline: string, part: Part): string {
  if (part === null) return t("pipeline.run-title", { name: pipeline });
  return "from" in part ? t("editor.run-title-from", { task: part.from }) : t("editor.run-title-only", { task: part.only });
}

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
