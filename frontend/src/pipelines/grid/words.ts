// The titles of bars and cells, which are also their accessible names.

import { language, stateWord, t } from "../../core/texts";
import { duration, exact } from "../../core/time";
import type { GridCell, GridRun } from "./data";

/** `train: failed, 3 min 20 s, 2 attempts` */
export function cellTitle(task: string, cell: GridCell | undefined): string {
  if (cell === undefined) return titled(task, [t("runs.grid-not-there")]);
  return titled(task, [
    state(cell.state),
    cell.run_seconds === undefined ? "" : duration(cell.run_seconds),
    cell.attempts > 0 ? t("runs.grid-attempts", { n: cell.attempts }) : "",
    cell.instances > 1 ? t("runs.grid-instances", { n: cell.instances }) : "",
  ]);
}

/** `Run 1a2b3c4d: failed, 3 min 20 s, version 2, 31 Jan 2026, 06:00:00` */
export function runTitle(run: GridRun, took: number | null): string {
  return titled(t("runs.grid-run", { run: run.id.slice(-8) }), [
    state(run.state),
    took === null ? "" : duration(took),
    run.version === undefined ? "" : t("runs.grid-version", { n: run.version }),
    exact(new Date(run.logical_date ?? run.created_at), language()),
  ]);
}

function state(name: string): string {
  return stateWord(name).toLowerCase();
}

function titled(what: string, facts: string[]): string {
  return t("runs.grid-titled", { what, facts: facts.filter((fact) => fact !== "").join(t("runs.grid-comma")) });
}
