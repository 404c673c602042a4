//! The values of a plot as a CSV file (RFC 4180, but with plain line ends). Pure.

import type { PlotSeries } from "./plot-options";

/** A row per x of any series, a column per series; `position` writes an x. */
export function csv(axis: string, series: readonly PlotSeries[], position: (x: number) => string): string {
  const columns = series.map(({ x, y }) => new Map(x.map((at, index) => [at, y[index]])));
  const places = [...new Set(series.flatMap(({ x }) => x))].sort((a, b) => a - b);
  const rows = places.map((x) => [position(x), ...columns.map((column) => String(column.get(x) ?? ""))]);
  return [[axis, ...series.map(({ label }) => label)], ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A title as the name of a file. */
export function fileName(title: string, ending: string): string {
  const name = title.replace(/[^\p{L}\p{N}._ -]+/gu, "-").replace(/^[-. ]+|[-. ]+$/g, "");
  return `${name || "plot"}.${ending}`;
}
