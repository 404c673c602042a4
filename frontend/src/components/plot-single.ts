//! Single values of a metric, said as numbers: a plot of one point shows nothing.

import { h } from "../core/dom";
import { mark } from "./plot-look";
import type { PlotOptions, PlotSeries } from "./plot-options";
import type { Single } from "./plot-values";
import { amount, position } from "./plot-words";

export function numbers(found: readonly Single[], series: readonly PlotSeries[], options: PlotOptions): HTMLElement {
  return h("dl", { class: "plot-numbers" }, ...found.flatMap(({ at, x, value }) => {
    const one = series[at];
    if (one === undefined) return [];
    return [h("div", {}, h("dt", {}, mark(one, at), one.label), h("dd", { class: "plot-number" }, amount(options, value)), h("dd", { class: "muted" }, position(options, x)))];
  }));
}
