//! Why a command cannot be done now.

import { t } from "../../core/texts";
import { itemOf, tasksIn } from "../../graph/document";
import type { Stage } from "../stage";

/** The document must not be changed here. */
export function locked(stage: Stage): string | null {
  return stage.readOnly ? t("canvas.refused-read-only") : null;
}

/** At least so many things must be selected that have a place. */
export function fewer(stage: Stage, least: number): string | null {
  const placed = [...stage.store.state.selection].filter((id) => itemOf(id).kind !== "edge").length;
  if (placed >= least) return null;
  return least === 1 ? t("canvas.refused-nothing") : t("canvas.refused-few", { n: least });
}

/** Exactly one task must be selected. */
export function notOneTask(stage: Stage): string | null {
  return tasksIn(stage.store.state.selection).length === 1 ? null : t("canvas.refused-one");
}

/** The first refusal of several. */
export function first(...refusals: ((stage: Stage) => string | null)[]): (stage: Stage) => string | null {
  return (stage) => {
    for (const refusal of refusals) {
      const why = refusal(stage);
      if (why !== null) return why;
    }
    return null;
  };
}

/** The only selected task. */
export function onlyTask(stage: Stage): string | null {
  const tasks = tasksIn(stage.store.state.selection);
  return tasks.length === 1 ? (tasks[0] ?? null) : null;
}
