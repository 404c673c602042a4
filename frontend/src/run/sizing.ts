// The sizing history of a role as plot lines: one point per attempt, oldest first.

import type { components } from "../api/schema";
import type { PlotSeries } from "../components/plot";
import { t } from "../core/texts";

/** A role, as in the API. */
export type Role = components["schemas"]["RoleSizingView"];
type Past = Role["past"][number];
type Size = Role["recommended"];

const GIB = 2 ** 30;

/**
 * The recommendation; over it the actual size, which is often the same; the request, dashed; the usage; and
 * OOM kills. In GiB.
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

/** The same for CPU, in CPUs. */
export function cpuLines(role: Role): PlotSeries[] {
  return [
    advised(role, ({ cpu }) => cpu),
    line(t("sizing.line-had"), role.past, (past) => past.had.cpu),
    { ...line(t("sizing.line-asked"), role.past, (past) => past.asked.cpu), dashed: true },
    line(t("sizing.line-used"), role.past, (past) => past.cpu_high),
    marks(t("sizing.line-held-back"), role.past, (past) => past.short_of_cpu, (past) => past.had.cpu),
  ].filter(({ x }) => x.length > 0);
}

/** The recommendation when each attempt began, and one further, the current one. */
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
