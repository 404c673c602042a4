//! The names of a plot's series with their marks; a click on one hides it, or shows it again.

import { h } from "../core/dom";
import { mark } from "./plot-look";
import type { PlotSeries } from "./plot-options";

export class PlotLegend {
  readonly element = h("ul", { class: "plot-legend" });
  readonly #toggle: (label: string) => void;
  #buttons: HTMLButtonElement[] = [];
  #labels: string[] = [];

  constructor(toggle: (label: string) => void) {
    this.#toggle = toggle;
  }

  show(series: readonly PlotSeries[], hidden: ReadonlySet<string>): void {
    const same = series.length === this.#labels.length && series.every(({ label }, at) => label === this.#labels[at]);
    // A new element would lose the focus.
    if (!same) this.#make(series);
    for (const [at, button] of this.#buttons.entries()) button.setAttribute("aria-pressed", String(!hidden.has(this.#labels[at] ?? "")));
  }

  #make(series: readonly PlotSeries[]): void {
    this.#labels = series.map(({ label }) => label);
    this.#buttons = series.map((one, at) => h("button", { type: "button", onclick: () => { this.#toggle(one.label); } }, mark(one, at), one.label));
    this.element.replaceChildren(...this.#buttons.map((button) => h("li", {}, button)));
  }
}
