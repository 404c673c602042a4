//! A line plot of metrics over steps or time, rendered by uPlot. The legend shows the values at the pointer,
//! or at the position moved with the arrow keys.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "../core/dom";
import { language, t } from "../core/texts";
import { exact } from "../core/time";
import { timeLabels } from "./plot-time";
import { stacked } from "./stack";

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
  /** Called with a selected range of x, instead of zooming in. */
  zoomed?: (from: number, until: number) => void;
}

const COLOURS = 6;

/** Steps and attempts are integers: ticks have no fractions. */
const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** A plot; `box` gets the class `plot`. */
export class Plot {
  readonly #box: HTMLElement;
  readonly #options: PlotOptions;
  readonly #watch: ResizeObserver;
  readonly #scheme: () => void;
  #plot: uPlot | undefined;
  #series: PlotSeries[];

  constructor(box: HTMLElement, options: PlotOptions) {
    this.#box = box;
    this.#options = options;
    this.#series = options.series;
    box.classList.add("plot");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.addEventListener("keydown", (event) => { this.#pressed(event); });
    this.#watch = new ResizeObserver(() => { this.#plot?.setSize(this.#size()); });
    this.#scheme = () => { this.#make(); };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.#scheme);
    this.#make();
    this.#watch.observe(box);
  }

  /** Replaces the series; if only values were added, the zoom is kept. */
  update(series: PlotSeries[]): void {
    const same = series.length === this.#series.length && series.every((one, index) => one.label === this.#series[index]?.label);
    this.#series = series;
    if (!same) this.#make();
    else this.#plot?.setData(this.#data());
    this.#describe();
  }

  /** Removes the plot from its box. */
  destroy(): void {
    this.#watch.disconnect();
    matchMedia("(prefers-color-scheme: dark)").removeEventListener("change", this.#scheme);
    this.#plot?.destroy();
    this.#box.replaceChildren();
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(200, this.#box.clientWidth - 2), height: this.#options.height ?? 240 };
  }

  #data(): uPlot.AlignedData {
    const edges = this.#options.stacked ? stacked(this.#series.map(({ y }) => y)) : [];
    const tables = this.#series.map(({ x, y }, at): uPlot.AlignedData => [x, edges[at] ?? y]);
    return tables.length === 1 && tables[0] ? tables[0] : uPlot.join(tables);
  }

  #make(): void {
    this.#plot?.destroy();
    const colour = (name: string) => resolve(this.#box, name);
    const axis: uPlot.Axis = {
      stroke: colour("--text-muted"),
      grid: { stroke: colour("--border"), width: 1 },
      ticks: { stroke: colour("--border"), width: 1 },
      font: "11px system-ui, sans-serif",
    };
    const areas = this.#options.stacked === true;
    const lines = this.#series.map(({ label, x, dashed, dotted, stepped, marks }, index): uPlot.Series => ({
      label,
      stroke: dashed ? colour("--text-muted") : colour(`--series-${(index % COLOURS) + 1}`),
      width: marks ? 0 : 1.75,
      // Lines of the same colour differ by their dashes.
      ...(index >= COLOURS || dashed ? { dash: dotted ? [2, 4] : [6, 3] } : {}),
      ...(stepped && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
      // A single point would show no dashes.
      points: marks ? { show: true, size: 11, width: 2 } : { show: x.length === 1 || (x.length <= 30 && !dashed), size: dashed ? 9 : 5 },
      spanGaps: this.#options.gaps !== true,
      ...(areas ? { fill: translucent(colour(`--series-${(index % COLOURS) + 1}`)) } : {}),
      value: (_plot, edge: number | null | undefined, _series, at) => {
        const value = areas && at !== null ? this.#series[index]?.y[at] : edge;
        return value == null ? "–" : number(value);
      },
    }));
    const time = this.#options.axis === "time";
    const { least } = this.#options;
    const first: uPlot.Series = { label: time ? t("common.plot-time") : (this.#options.steps ?? t("common.plot-step")) };
    const shown = (x: number) => (time ? exact(new Date(x * 1000), language()) : number(x));
    first.value = (_plot, value: number | null) => (value === null ? "–" : shown(value));
    const times: uPlot.Axis = { ...axis, values: (_plot, ticks, _axis, _space, increment) => timeLabels(ticks, increment, language()) };
    this.#plot = new uPlot(
      {
        ...this.#size(),
        // The last label of the x axis is centered at the edge.
        padding: [null, 20, null, null],
        scales: { x: { time }, ...(least === undefined ? {} : { y: { range: (_plot, low, high) => [Math.min(least, low), high > least ? high * 1.1 : least + 1] } }) },
        axes: [time ? times : { ...axis, incrs: WHOLE }, { ...axis, size: 58, values: (_plot, values) => values.map(number) }],
        series: [first, ...lines],
        cursor: { points: { size: 7 }, drag: { setScale: this.#options.zoomed === undefined, x: true, y: false } },
        legend: { live: true },
        bands: areas ? lines.slice(1).map((_, below): uPlot.Band => ({ series: [below + 2, below + 1] })) : [],
        hooks: { setSelect: [(plot) => { this.#selected(plot); }] },
      },
      this.#data(),
      this.#frame(),
    );
    this.#describe();
  }

  #selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (!this.#options.zoomed || width === 0) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#options.zoomed(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
  }

  #frame(): HTMLElement {
    const body = h("div", { class: "plot-body" });
    this.#box.replaceChildren(h("h3", { class: "plot-title" }, this.#options.title), body);
    return body;
  }

  #describe(): void {
    const lines = this.#series.map(({ label, y }) => {
      const last = y.at(-1);
      return `${label}: ${last == null ? "–" : number(last)}`;
    });
    this.#box.setAttribute("aria-label", `${this.#options.title}. ${lines.join("; ")}`);
  }

  #pressed(event: KeyboardEvent): void {
    const plot = this.#plot;
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!plot || by === 0) return;
    event.preventDefault();
    const count = plot.data[0].length;
    const at = Math.min(count - 1, Math.max(0, (plot.cursor.idx ?? -1) + by));
    const x = plot.data[0][at];
    if (x !== undefined) plot.setCursor({ left: plot.valToPos(x, "x"), top: plot.over.clientHeight / 2 });
  }
}

function number(value: number): string {
  const small = value !== 0 && Math.abs(value) < 1e-3;
  const large = Math.abs(value) >= 1e6;
  const notation = small || large ? "scientific" : "standard";
  return new Intl.NumberFormat(language(), { maximumSignificantDigits: 5, notation }).format(value);
}

/** A computed colour, mostly transparent. */
function translucent(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.35)");
}

// A canvas does not resolve custom properties, but an element's computed colour is always plain.
function resolve(box: HTMLElement, name: string): string {
  const probe = h("span");
  probe.style.color = `var(${name})`;
  box.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
