//! The table of idle GPU-hours, most wasteful first.

import type { components } from "../api/schema";
import { h } from "../core/dom";
import { language, t } from "../core/texts";

export type Idle = components["schemas"]["IdleGpusView"];
type Group = components["schemas"]["IdleGpusGroup"];

const HEADS: Record<string, string> = {
  project: /* text */ "monitoring.project",
  user: /* text */ "monitoring.person",
  task: /* text */ "monitoring.task",
};

function number(value: number, digits: number): string {
  return new Intl.NumberFormat(language(), { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

const hours = (value: number): string => number(value, 1);
const percent = (part: number, all: number): string => (all > 0 ? `${Math.round((part / all) * 100)} %` : "");

function money(amount: string | null | undefined, currency: string | null | undefined): string {
  return amount == null ? "–" : [number(Number(amount), 2), currency].filter(Boolean).join(" ");
}

/** The name of a group, with a link where it leads somewhere. */
function name({ project, user, pipeline, task }: Group, by: string): (Node | string)[] {
  if (by === "user") return [user ?? t("monitoring.unknown")];
  const ofProject = h("a", { href: `/projects/${project}` }, project);
  if (by === "project") return [ofProject];
  if (pipeline == null) return [ofProject, ` / ${t("monitoring.smaller-tasks")}`];
  return [ofProject, " / ", h("a", { href: `/projects/${project}/pipelines/${pipeline}` }, pipeline), ` / ${task ?? ""}`];
}

/** The table; a sentence without any GPU-hours. */
export function idleTable({ groups, others, currency }: Idle, by: string): HTMLElement {
  const all = [...groups, ...(others ? [others] : [])];
  if (all.length === 0) return h("p", { class: "empty slim" }, t("monitoring.no-gpu-hours"));
  const priced = all.some((group) => group.idle_cost != null);
  const heads = [t("monitoring.gpu-hours"), t("monitoring.idle-gpu-hours"), ...(priced ? [t("monitoring.idle-cost")] : [])];
  const cell = (label: string | undefined, ...inside: (Node | string)[]) => h("td", { class: "end number", "data-label": label }, h("span", {}, ...inside));
  const muted = (text: string) => h("span", { class: "muted" }, text);
  const row = (group: Group, of: (Node | string)[]) => {
    const { gpu_hours: held, measured_gpu_hours: measured, idle_gpu_hours: idle } = group;
    // Where only a part was measured, the percentage is that of the part.
    const partly = measured > 0 && measured < held * 0.99 ? [" ", muted(t("monitoring.measured-part", { percent: percent(measured, held) }))] : [];
    return h("tr", {},
      h("th", { scope: "row" }, ...of),
      cell(heads[0], hours(held), ...partly),
      idle == null ? cell(heads[1], muted(t("monitoring.unknown"))) : cell(heads[1], hours(idle), " ", muted(percent(idle, measured))),
      priced ? cell(heads[2], money(group.idle_cost, currency)) : null);
  };
  const rows = [...groups.map((group) => row(group, name(group, by))), ...(others ? [row(others, [muted(t("monitoring.other-groups"))])] : [])];
  const head = h("tr", {}, h("th", {}, t(/* text */ HEADS[by] ?? by)), ...heads.map((text) => h("th", { class: "end" }, text)));
  return h("div", { class: "table-box" }, h("table", { class: "table cards" }, h("thead", {}, head), h("tbody", {}, ...rows)));
}
