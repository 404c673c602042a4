//! GPU history from the API, as series of plots. Pure.

import type { components } from "../api/schema";
import type { PlotSeries } from "../components/plot";
import { t } from "../core/texts";
import type { HeatData } from "./heat";

export type History = components["schemas"]["GpuHistoryView"];
export type Group = components["schemas"]["GpuGroupView"];
type Values = (number | null)[];

/** Groups with an area of their own; a plot has six colours, and one is that of the others. */
const AREAS = 5;

/** The start of each interval, in seconds since the epoch. */
export function times({ from, step_seconds: step, total }: History): number[] {
  const start = Date.parse(from) / 1000;
  return total.map((_, at) => start + at * step);
}

/** Whether any value is known. */
export const known = (values: Values): boolean => values.some((value) => value !== null);

/** A group's name, in the words of its grouping. */
export function nameOf(group: Partial<Group>, by: string): string {
  switch (by) {
    case "project": return group.project ?? t("monitoring.unknown");
    case "user": return group.user ?? t("monitoring.unknown");
    case "task": return `${group.project ?? ""} / ${group.pipeline == null ? t("monitoring.smaller-tasks") : `${group.pipeline} / ${group.task ?? ""}`}`;
    case "model": return group.model ?? t("monitoring.model-unknown");
    case "node": return group.node ?? "";
    default: return group.node_group ?? t("monitoring.no-node-group");
  }
}

const sum = (values: Values): number => values.reduce<number>((all, value) => all + (value ?? 0), 0);

/** The sums of some series; null where all are. */
function added(series: Values[], count: number): Values {
  return Array.from({ length: count }, (_, at) => {
    const values = series.map((one) => one[at] ?? null).filter((value) => value !== null);
    return values.length === 0 ? null : values.reduce((all, value) => all + value, 0);
  });
}

/** The allocated GPUs of the largest groups, and of all others. */
export function areas(history: History, by: string): PlotSeries[] {
  const x = times(history);
  const groups = [...history.groups].sort((a, b) => sum(b.allocated) - sum(a.allocated)).filter(({ allocated }) => sum(allocated) > 0);
  const rest = [...groups.slice(AREAS), ...(history.others ? [history.others] : [])].map(({ allocated }) => allocated);
  const shown = groups.slice(0, AREAS).map((group) => ({ label: nameOf(group, by), x, y: group.allocated }));
  return rest.length === 0 ? shown : [...shown, { label: t("monitoring.other-groups"), x, y: added(rest, x.length) }];
}

/** What a heat map shows: the utilization of a node's GPUs, or the allocated part. */
export type HeatMeasure = "used" | "allocated";

/** The nodes over time, by share. Without any utilization, or if requested, it is that of allocated GPUs. */
export function heatOf(history: History, measure: string): HeatData & { measure: HeatMeasure } {
  const nodes = history.groups;
  const shown: HeatMeasure = measure !== "allocated" && nodes.some(({ used }) => known(used)) ? "used" : "allocated";
  const shares = nodes.map((node) => node[shown].map((value, at) => {
    const total = node.total?.[at] ?? null;
    return value === null || total === null || total === 0 ? null : value / total;
  }));
  return { names: nodes.map(({ node }) => node ?? ""), shares, columns: history.total.length, measure: shown };
}
