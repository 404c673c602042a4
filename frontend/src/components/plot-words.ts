//! The names and values of a plot as text, in the reader's language.

import { language, t } from "../core/texts";
import { exact } from "../core/time";
import type { PlotOptions } from "./plot-options";

export function number(value: number): string {
  const small = value !== 0 && Math.abs(value) < 1e-3;
  const large = Math.abs(value) >= 1e6;
  const notation = small || large ? "scientific" : "standard";
  return new Intl.NumberFormat(language(), { maximumSignificantDigits: 5, notation }).format(value);
}

/** A value with the plot's unit. */
export function amount({ unit }: PlotOptions, value: number): string {
  return unit === undefined ? number(value) : `${number(value)} ${unit}`;
}

/** The name of the x axis. */
export function axisName({ axis, steps }: PlotOptions): string {
  return axis === "time" ? t("plot.time") : (steps ?? t("plot.step"));
}

/** A position on the x axis: a moment, or `Step 3`. */
export function position(options: PlotOptions, x: number): string {
  return options.axis === "time" ? exact(new Date(x * 1000), language()) : `${axisName(options)} ${number(x)}`;
}

/** The title with the unit, and the last value of each series. */
export function description({ title, unit }: PlotOptions, series: readonly { label: string; y: readonly (number | null)[] }[]): string {
  const lines = series.map(({ label, y }) => {
    const last = y.at(-1);
    return `${label}: ${last == null ? "–" : number(last)}`;
  });
  return `${unit === undefined ? title : `${title}, ${unit}`}. ${lines.join("; ")}`;
}
