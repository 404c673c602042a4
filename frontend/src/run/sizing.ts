// What is known of a role's attempts, as lines of plots: one point an attempt, the oldest first.

import type { components } from "../api/schema";
import type { PlotSeries } from "../components/plot";
import { t } from "../core/texts";

/** A role, as the API tells it. */
export type Role = components["schemas"]["RoleSizingView"];
type Past = Role["past"][number];
type Size = Role["recommended"];

const GIB = 2 ** 30;

/**
 * What was advised, over it what workers had, which is often the same, what was asked for, dashed, what they used, and where memory
 * ran out, in GiB.
 */
export function memoryLines(role: Role): PlotSeries[] {
  return [
    advised(role, ({ memory }) => memory / GIB),
    line(t("sizing.line-had"), role.past, (past) => past.had.memory / GIB),
    { ...line(t("sizing.line-asked"), role.past, (past) => past.asked.memory / GIB), dashed: true },
    line(t("sizing.line-used"), role.past, (past) => past.peak_memory / GIB),
    marks(t("sizing.line-ran-out"), role.past, (past) => past.out_of_memory, (past) => past.had.memory / GIB),
  ].filter(({ x }) => x.length > 0);
}

/** The same of processing power, in cores. */
export function cpuLines(role: Role): PlotSeries[] {
  return [
    advised(role, ({ cpu }) => cpu),
    line(t("sizing.line-had"), role.past, (past) => past.had.cpu),
    { ...line(t("sizing.line-asked"), role.past, (past) => past.asked.cpu), dashed: true },
    line(t("sizing.line-used"), role.past, (past) => past.cpu_high),
    marks(t("sizing.line-held-back"), role.past, (past) => past.short_of_cpu, (past) => past.had.cpu),
  ].filter(({ x }) => x.length > 0);
}

/** What was advised when each attempt began, and, one further, what is advised now. */
function advised({ past, recommended }: Role, value: (size: Size) => number): PlotSeries {
  const sizes = past.length === 0 ? [] : [...past.map((one) => one.recommended), recommended];
  return { label: t("sizing.line-advised"), x: sizes.map((_, at) => at + 1), y: sizes.map(value) };
}

function line(label: string, past: readonly Past[], value: (past: Past) => number): PlotSeries {
  return { label, x: past.map((_, at) => at + 1), y: past.map(value) };
}

function marks(label: string, past: readonly Past[], is: (past: Past) => boolean, value: (past: Past) => number): PlotSeries {
  const marked = past.map((one, at) => ({ one, x: at + 1 })).filter(({ one }) => is(one));
  return { label, x: marked.map(({ x }) => x), y: marked.map(({ one }) => value(one)), marks: true };
}
