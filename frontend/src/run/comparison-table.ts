// The table of several runs: a column for each run, rows for what it had and did.

import { h } from "../core/dom";
import { stateBadge, stateSign } from "../core/state";
import { t } from "../core/texts";
import { duration } from "../core/time";
import { groups, type Cell, type ComparedRun, type Group, type Kind, type Row } from "./comparison";

const TITLES: Record<Kind, string> = {
  parameters: /* text */ "runs.column-parameters",
  metrics: /* text */ "runs.compare-metrics",
  outputs: /* text */ "runs.compare-outputs",
  tasks: /* text */ "runs.column-tasks",
};

/** `all`: also the rows that are equal in all runs. */
export function comparisonTable(runs: readonly ComparedRun[], all: boolean): HTMLTableElement {
  const head = h("tr", {}, h("td"), ...runs.map(({ run }) => h("th", { scope: "col", class: "end" }, h("a", { class: "mono", href: `/runs/${run.id}` }, run.id.slice(-8)))));
  return h("table", { class: "table" }, h("thead", {}, head), about(runs), ...groups(runs).map((group) => section(group, runs.length, all)));
}

/** What every comparison has: states, times, versions. */
function about(runs: readonly ComparedRun[]): HTMLElement {
  const row = (title: string, show: (run: ComparedRun["run"]) => Node | string): HTMLElement =>
    h("tr", {}, h("th", { scope: "row" }, title), ...runs.map(({ run }) => h("td", { class: "end" }, show(run))));
  const pipelines = new Set(runs.map(({ run }) => run.pipeline));
  return h(
    "tbody",
    {},
    row(t("runs.column-state"), ({ phase }) => stateBadge(phase === "pending" ? "pending_run" : phase)),
    pipelines.size > 1 && row(t("runs.column-pipeline"), ({ pipeline }) => pipeline),
    row(t("runs.column-duration"), took),
    row(t("runs.compare-version"), ({ version }) => (version === undefined ? "–" : String(version))),
    row(t("runs.column-started"), (run) => h("time", { datetime: run.created_at, "data-moment": true })),
    row(t("runs.column-user"), ({ user }) => user),
  );
}

function took(run: ComparedRun["run"]): Node | string {
  if (run.duration_seconds !== undefined) return duration(run.duration_seconds);
  return run.started_at === undefined ? "–" : h("span", { "data-since": run.started_at });
}

function section({ kind, rows }: Group, count: number, all: boolean): HTMLElement {
  const seen = all ? rows : rows.filter(({ same }) => !same);
  const folded = rows.length - seen.length;
  const title = h("th", { scope: "rowgroup" }, t(/* text */ TITLES[kind]));
  const note = h("td", { class: "end small muted", colspan: count }, folded > 0 && t("runs.compare-equal", { n: folded }));
  return h("tbody", { "data-kind": kind }, h("tr", { class: "compare-kind" }, title, note), ...seen.map((row) => line(row, kind)));
}

function line({ name, task, cells }: Row, kind: Kind): HTMLElement {
  const label = h("th", { scope: "row" }, h("span", { class: kind === "tasks" ? "" : "mono" }, name), task !== "" && h("span", { class: "small muted" }, ` ${task}`));
  return h("tr", {}, label, ...cells.map((cell) => value(cell)));
}

function value({ text, difference, state }: Cell): HTMLElement {
  const sign = state === undefined || state === "succeeded" ? null : stateSign(state);
  return h("td", { class: "end" }, sign, h("span", { class: "compare-value" }, text), difference !== "" && h("div", { class: "small muted" }, difference));
}
