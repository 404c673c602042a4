//! Reasons why a command is disabled.

import { t } from "../../core/texts";
import { itemOf, tasksIn } from "../../graph/document";
import type { Stage } from "../stage";

/** The document is read-only. */
export function locked(stage: Stage): string | null {
  return stage.readOnly ? t("canvas.refused-read-only") : null;
}

/** Fewer than `least` positioned items are selected. */
export function fewer(stage: Stage, least: number): string | null {
  const placed = [...stage.store.state.selection].filter((id) => itemOf(id).kind !== "edge").length;
  if (placed >= least) return null;
  return least === 1 ? t("canvas.refused-nothing") : t("canvas.refused-few", { n: least });
}

/** The selection is not exactly one task. */
export function notOneTask(stage: Stage): string | null {
  return tasksIn(stage.store.state.selection).length === 1 ? null : t("canvas.refused-one");
}

/** The first reason of several. */
export function first(...refusals: ((stage: Stage) => string | null)[]): (stage: Stage) => string | null {
  return (stage) => {
    for (const refusal of refusals) {
      const why = refusal(stage);
      if (why !== null) return why;
    }
    return null;
  };
}

export function onlyTask(stage: Stage): string | null {
  const tasks = tasksIn(stage.store.state.selection);
  return tasks.length === 1 ? (tasks[0] ?? null) : null;
}
