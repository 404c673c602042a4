//! What a plot shows.

export interface PlotSeries {
  label: string;
  /** Steps, or seconds since the epoch on a time axis; ascending. */
  x: number[];
  /** Null for missing values. */
  y: (number | null)[];
  /** Whether it is a reference line, not a measurement. */
  dashed?: boolean;
  /** Whether a dashed line is dotted instead, to distinguish it from another one. */
  dotted?: boolean;
  /** Whether a value holds until the next one. */
  stepped?: boolean;
  /** Single highlighted points without a line. */
  marks?: boolean;
}

export interface PlotOptions {
  title: string;
  series: PlotSeries[];
  /** The unit of the values. */
  unit?: string;
  /** The unit of the x axis. */
  axis?: "step" | "time";
  /** The name of a step. */
  steps?: string;
  /** In pixels. */
  height?: number;
  /** The lower bound of the y axis, unless there are lower values. */
  least?: number;
  /** Whether missing values interrupt a line. */
  gaps?: boolean;
  /** Whether the series are areas on top of each other, at the same x. */
  stacked?: boolean;
  /** Whether it is a metric of a run: with a choice of scale and smoothing, and single values as numbers. */
  metric?: boolean;
  /** Called with a selected range of x, instead of zooming in. */
  zoomed?: (from: number, until: number) => void;
}
