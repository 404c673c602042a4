//! Starts runs from the editor: saves unsaved changes first, then shows the run on the canvas.

import type { Problem } from "../api/problem";
import { t } from "../core/texts";
import { toast } from "../core/toast";
import { taskIndex } from "../form/by-place";
import { goTo } from "../form/jump";
import { taskOf } from "../graph/document";
import type { Parameters } from "../pipelines/parameters";
import type { Unsaved } from "../pipelines/save-first";
import { askStart, earlierRuns, type StartOptions } from "../pipelines/start";
import { tellWrong } from "../pipelines/wrong";
import { show } from "./run";
import { storeAs } from "./save";
import type { Session } from "./session";
import { problemsOf } from "./validator";

/** The part of the pipeline to run. */
export type Part = { from: string } | { only: string } | null;

/** Asks in one dialog for what a version and a run need, then starts the run and shows it on the canvas. */
export async function start(session: Session, part: Part): Promise<void> {
  const errors = await errorsOf(session);
  if (errors.length > 0) tell(session, errors);
  else await ask(session, part);
}

async function ask(session: Session, part: Part): Promise<void> {
  const { stored } = session.state;
  const { document } = session.store.state;
  const pipeline = stored?.pipeline ?? document.name;
  const takesOver = part !== null && needsOthers(session, part);
  const unsaved = session.dirty || !stored ? await unsavedOf(session) : undefined;
  const earlier = takesOver && stored ? await earlierRuns(session.project, pipeline) : [];
  const options: StartOptions = {
    ...(part ? { tasks: part, takesOver } : {}),
    ...(unsaved ? { unsaved } : stored ? { version: stored.version } : {}),
    title: titleOf(pipeline, part),
    onStarted: (run, warnings) => {
      for (const { message } of warnings.slice(0, 3)) toast(message);
      show(session, run);
    },
  };
  // A document with errors does not get here.
  const parameters = (document.parameters ?? {}) as unknown as Parameters;
  askStart(session.project, pipeline, parameters, options, earlier);
}

async function unsavedOf(session: Session): Promise<Unsaved> {
  const { stored } = session.state;
  return {
    ...(stored ? { note: t("editor.run-save-text") } : { name: session.store.state.document.name }),
    source: { document: await session.text(), ...(session.code === null ? {} : { code: session.code }) },
    save: (name, message) => storeAs(session, name, message),
  };
}

/** The errors that prevent a run; the known ones may be older than the last change. */
async function errorsOf(session: Session): Promise<Problem[]> {
  const isError = ({ severity }: Problem) => severity === "error";
  const { broken } = session.state;
  if (!broken && !session.store.state.problems.some(isError)) return [];
  const errors = (await problemsOf(session)).filter(isError);
  if (broken) return errors.length > 0 ? errors : [...broken.problems];
  // What does not fit the default cluster may fit another one: the dialog compares them.
  const others = session.state.surroundings.places.length > 1;
  return others && errors.every(({ code }) => code === "never_fits") ? [] : errors;
}

function tell(session: Session, errors: readonly Problem[]): void {
  const { path, line } = errors[0] ?? { path: "" };
  if (session.state.broken) {
    const where = line === undefined ? "" : t("pipeline.line", { line });
    tellWrong({ errors, where, show: () => { session.cell.set({ look: "text" }); } });
    return;
  }
  const index = taskIndex(path);
  const where = index === null ? "" : (session.store.state.document.tasks[index]?.name ?? "");
  tellWrong({ errors, where, show: () => { goTo(session.store, path); } });
}

function needsOthers(session: Session, part: NonNullable<Part>): boolean {
  const task = taskOf(session.store.state.document, "from" in part ? part.from : part.only);
  return (task?.needs?.length ?? 0) > 0;
}

function titleOf(pipeline: string, part: Part): string {
  if (part === null) return t("pipeline.run-title", { name: pipeline });
  return "from" in part ? t("editor.run-title-from", { task: part.from }) : t("editor.run-title-only", { task: part.only });
}
