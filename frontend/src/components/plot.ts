//! A plot of metrics over steps or time, rendered by uPlot. A tooltip shows the values at the pointer, or at
//! the position moved with the arrow keys.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "../core/dom";
import { hand } from "../core/hand";
import { csv, fileName } from "./plot-csv";
import { picture } from "./plot-image";
import { PlotLegend } from "./plot-legend";
import { dataOf, drawingOf, linesOf, type Line } from "./plot-lines";
import { colourOf, mark, resolved } from "./plot-look";
import { PlotMenu } from "./plot-menu";
import type { PlotOptions, PlotSeries } from "./plot-options";
import { numbers } from "./plot-single";
import { PlotTip, type Tip } from "./plot-tip";
import { positive, rowsAt, singles, valueAt } from "./plot-values";
import { view, watchView, type View } from "./plot-view";
import { amount, axisName, description, position } from "./plot-words";

export type { PlotOptions, PlotSeries } from "./plot-options";

const DARK = "(prefers-color-scheme: dark)";

/** A plot; `box` gets the class `plot`. */
export class Plot {
  readonly #box: HTMLElement;
  readonly #options: PlotOptions;
  readonly #watch: ResizeObserver;
  readonly #redraw = (): void => { this.#make(); };
  readonly #unwatch: () => void;
  readonly #body = h("div", { class: "plot-body" });
  readonly #legend = new PlotLegend((label) => { this.#toggle(label); });
  readonly #menu: PlotMenu;
  readonly #tip = new PlotTip();
  readonly #hidden = new Set<string>();
  #plot: uPlot | undefined;
  #series: PlotSeries[];
  #lines: Line[] = [];
  #view: View = { log: false, smoothing: 0 };
  #byKeys = false;

  constructor(box: HTMLElement, options: PlotOptions) {
    this.#box = box;
    this.#options = options;
    this.#series = options.series;
    this.#menu = new PlotMenu(options.title, {
      csv: () => { this.#csv(); },
      png: () => { this.#png(); },
      ...(options.metric ? { positive: () => positive(this.#series) } : {}),
    });
    box.classList.add("plot");
    box.setAttribute("role", "group");
    box.addEventListener("keydown", (event) => { this.#pressed(event); });
    box.addEventListener("blur", () => { this.#leave(); });
    box.replaceChildren(h("h3", { class: "plot-title" }, options.title), this.#menu.element, this.#body, this.#legend.element, this.#tip.element, this.#tip.said);
    this.#watch = new ResizeObserver(() => { this.#plot?.setSize(this.#size()); });
    matchMedia(DARK).addEventListener("change", this.#redraw);
    this.#unwatch = options.metric ? watchView(this.#redraw) : () => undefined;
    this.#make();
    this.#watch.observe(box);
  }

  /** Replaces the series; if only values were added, what is drawn is kept. */
  update(series: PlotSeries[]): void {
    const same = series.length === this.#series.length && series.every((one, index) => one.label === this.#series[index]?.label);
    this.#series = series;
    if (!same || this.#plot === undefined || this.#wanted().log !== this.#view.log) {
      this.#make();
      return;
    }
    this.#lines = linesOf(series, this.#view.smoothing);
    this.#plot.setData(this.#data());
    this.#menu.refresh();
    this.#describe();
  }

  /** Removes the plot from its box. */
  destroy(): void {
    this.#watch.disconnect();
    this.#unwatch();
    matchMedia(DARK).removeEventListener("change", this.#redraw);
    this.#plot?.destroy();
    this.#box.replaceChildren();
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(200, this.#body.clientWidth), height: this.#options.height ?? 240 };
  }

  #data(): uPlot.AlignedData {
    return dataOf(this.#lines, this.#options.stacked === true, this.#hidden);
  }

  /** How it should be drawn: as chosen, if its values permit that. */
  #wanted(): View {
    if (!this.#options.metric) return { log: false, smoothing: 0 };
    const { log, smoothing } = view();
    return { log: log && positive(this.#series), smoothing };
  }

  #make(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#tip.hide();
    const single = this.#options.metric ? singles(this.#series) : [];
    this.#body.replaceChildren(...(single.length > 0 ? [numbers(single, this.#series, this.#options)] : []));
    this.#menu.element.hidden = this.#legend.element.hidden = single.length > 0;
    // There are no positions to move to in a number.
    if (single.length > 0) this.#box.removeAttribute("tabindex");
    else this.#draw();
    this.#describe();
  }

  #draw(): void {
    this.#box.tabIndex = 0;
    this.#view = this.#wanted();
    this.#lines = linesOf(this.#series, this.#view.smoothing);
    this.#legend.show(this.#series, this.#hidden);
    this.#menu.refresh();
    this.#plot = new uPlot(
      {
        ...this.#size(),
        ...drawingOf(this.#options, this.#lines, { log: this.#view.log, hidden: this.#hidden, colour: (name) => resolved(this.#box, name) }),
        cursor: { points: { size: 7 }, drag: { setScale: this.#options.zoomed === undefined, x: true, y: false } },
        legend: { show: false },
        hooks: { setSelect: [(plot) => { this.#selected(plot); }], setCursor: [(plot) => { this.#follow(plot); }] },
      },
      this.#data(),
      this.#body,
    );
  }

  #selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (!this.#options.zoomed || width === 0) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#options.zoomed(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
  }

  #describe(): void {
    this.#box.setAttribute("aria-label", description(this.#options, this.#series));
  }

  #toggle(label: string): void {
    if (!this.#hidden.delete(label)) this.#hidden.add(label);
    // The areas above a hidden one move down.
    if (this.#options.stacked) this.#make();
    for (const [at, { series }] of this.#lines.entries()) {
      if (series.label === label) this.#plot?.setSeries(at + 1, { show: !this.#hidden.has(label) });
    }
    this.#legend.show(this.#series, this.#hidden);
  }

  /** Shows the values at the cursor. */
  #follow(plot: uPlot): void {
    const { idx, left = -1, top = 0 } = plot.cursor;
    const x = idx == null || left < 0 ? undefined : plot.data[0][idx];
    if (x === undefined) {
      this.#tip.hide();
      return;
    }
    const [area, box] = [plot.over.getBoundingClientRect(), this.#box.getBoundingClientRect()];
    const at = { left: area.left - box.left + left, top: area.top - box.top + top };
    this.#tip.show(this.#at(x), at, this.#byKeys);
  }

  #at(x: number): Tip {
    const shown = this.#lines.filter(({ series, raw }) => !raw && !this.#hidden.has(series.label));
    const rows = rowsAt(shown.map(({ series }) => series), x).flatMap(({ at, value }) => {
      const index = shown[at]?.index ?? 0;
      const reported = this.#series[index];
      if (reported === undefined) return [];
      const before = this.#view.smoothing > 0 ? valueAt(reported, x) : null;
      return [{ mark: mark(reported, index), label: reported.label, value: amount(this.#options, value), ...(before === null ? {} : { raw: amount(this.#options, before) }) }];
    });
    return { head: position(this.#options, x), rows };
  }

  #leave(): void {
    this.#plot?.setCursor({ left: -10, top: -10 });
  }

  #pressed(event: KeyboardEvent): void {
    const plot = this.#plot;
    if (!plot || event.target !== this.#box) return;
    if (event.key === "Escape" && plot.cursor.idx != null) {
      // It closes the tooltip, not what the plot is in.
      event.stopPropagation();
      this.#leave();
    }
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const count = plot.data[0].length;
    const at = Math.min(count - 1, Math.max(0, (plot.cursor.idx ?? -1) + by));
    const x = plot.data[0][at];
    if (x === undefined) return;
    this.#byKeys = true;
    plot.setCursor({ left: plot.valToPos(x, "x"), top: plot.over.clientHeight / 2 });
    this.#byKeys = false;
  }

  #csv(): void {
    const time = this.#options.axis === "time";
    const text = csv(axisName(this.#options), this.#series, (x) => (time ? new Date(x * 1000).toISOString() : String(x)));
    hand(fileName(this.#options.title, "csv"), text, "text/csv");
  }

  #png(): void {
    if (!this.#plot) return;
    const { title, unit } = this.#options;
    const colour = (name: string) => resolved(this.#box, name);
    const names = this.#series.flatMap((one, index) => (this.#hidden.has(one.label) ? [] : [{ label: one.label, colour: colour(colourOf(one, index)) }]));
    const caption = { title: unit === undefined ? title : `${title}, ${unit}`, names, text: colour("--text"), surface: colour("--surface") };
    picture(this.#plot.ctx.canvas, caption).toBlob((blob) => { if (blob) hand(fileName(title, "png"), blob, "image/png"); }, "image/png");
  }
}
