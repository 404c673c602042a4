//! The lines, axes and scales of a plot, for uPlot.

import uPlot from "uplot";
import { language } from "../core/texts";
import { colourOf, strokeOf, translucent } from "./plot-look";
import type { PlotOptions, PlotSeries } from "./plot-options";
import { smoothed } from "./plot-smooth";
import { timeLabels } from "./plot-time";
import { number } from "./plot-words";
import { stacked } from "./stack";

const FONT = "11px system-ui, sans-serif";

/** Steps and attempts are integers: ticks have no fractions. */
const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

const DASHES: Record<string, number[]> = { dashed: [6, 3], dotted: [2, 4] };

/** A drawn line; `index` is the position of its series in the plot. */
export interface Line {
  readonly series: PlotSeries;
  readonly index: number;
  /** Whether it is what was reported, behind its smoothed line. */
  readonly raw: boolean;
}

/** How a plot is drawn now. */
export interface Drawing {
  readonly log: boolean;
  /** The labels of series that are not shown. */
  readonly hidden: ReadonlySet<string>;
  /** A custom property as a plain colour. */
  readonly colour: (name: string) => string;
}

/** The lines of series, from the back to the front. */
export function linesOf(series: readonly PlotSeries[], smoothing: number): Line[] {
  const reported = series.map((one, index): Line => ({ series: one, index, raw: smoothing > 0 }));
  if (smoothing === 0) return reported;
  return [...reported, ...series.map((one, index): Line => ({ series: { ...one, y: smoothed(one.y, smoothing) }, index, raw: false }))];
}

/** The values of lines at the x of all of them. */
export function dataOf(lines: readonly Line[], areas: boolean, hidden: ReadonlySet<string>): uPlot.AlignedData {
  // A hidden area leaves no gap in the stack.
  const edges = areas ? stacked(lines.map(({ series: { label, y } }) => (hidden.has(label) ? y.map(() => null) : y))) : [];
  const tables = lines.map(({ series: { x, y } }, at): uPlot.AlignedData => [x, edges[at] ?? y]);
  return tables.length === 1 && tables[0] ? tables[0] : uPlot.join(tables);
}

/** uPlot's options, but for what depends on the page. */
export function drawingOf(options: PlotOptions, lines: readonly Line[], drawing: Drawing): Pick<uPlot.Options, "padding" | "scales" | "axes" | "series" | "bands"> {
  return {
    // The last label of the x axis is centered at the edge.
    padding: [null, 20, null, null],
    scales: scales(options, drawing.log),
    axes: axes(options, drawing),
    series: [{}, ...lines.map((line) => lineOf(line, options, drawing))],
    bands: options.stacked === true ? bands(lines, drawing) : [],
  };
}

function scales({ axis, least }: PlotOptions, log: boolean): uPlot.Scales {
  const x = { time: axis === "time" };
  // The bundler has no values of constant enumerations of other packages.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
  if (log) return { x, y: { distr: 3, log: 10 } };
  if (least === undefined) return { x };
  return { x, y: { range: (_plot, low, high) => [Math.min(least, low), high > least ? high * 1.1 : least + 1] } };
}

function axes({ axis, unit }: PlotOptions, { colour }: Drawing): uPlot.Axis[] {
  const line = { stroke: colour("--border"), width: 1 };
  const both: uPlot.Axis = { stroke: colour("--text-muted"), grid: line, ticks: line, font: FONT };
  const times: uPlot.Axis = { values: (_plot, ticks, _axis, _space, increment) => timeLabels(ticks, increment, language()) };
  const title: uPlot.Axis = unit === undefined ? {} : { label: unit, labelFont: FONT, labelSize: 18 };
  return [
    { ...both, ...(axis === "time" ? times : { incrs: WHOLE }) },
    // A logarithmic scale has ticks without labels: null.
    { ...both, ...title, size: 58, values: (_plot, ticks: readonly (number | null)[]) => ticks.map((tick) => (tick === null ? "" : number(tick))) },
  ];
}

function lineOf({ series, index, raw }: Line, options: PlotOptions, { hidden, colour }: Drawing): uPlot.Series {
  const { label, x, dashed, stepped, marks } = series;
  const plain = colour(colourOf(series, index));
  const dash = DASHES[strokeOf(series, index)];
  return {
    label,
    show: !hidden.has(label),
    stroke: raw ? translucent(plain) : plain,
    width: marks ? 0 : 1.75,
    ...(dash ? { dash } : {}),
    ...(stepped && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
    // A single point would show no dashes.
    points: marks ? { show: true, size: 11, width: 2 } : { show: !raw && (x.length === 1 || (x.length <= 30 && !dashed)), size: dashed ? 9 : 5 },
    spanGaps: options.gaps !== true,
    ...(options.stacked === true ? { fill: translucent(plain) } : {}),
  };
}

/** The area between each shown line and the shown one below it. */
function bands(lines: readonly Line[], { hidden }: Drawing): uPlot.Band[] {
  const shown = lines.flatMap(({ series }, at) => (hidden.has(series.label) ? [] : [at + 1]));
  return shown.slice(1).map((above, at): uPlot.Band => ({ series: [above, shown[at] ?? 0] }));
}
