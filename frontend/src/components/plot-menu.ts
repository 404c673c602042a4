//! The menu of a plot: downloads, and for metrics the scale and the smoothing.

import { h, icon } from "../core/dom";
import { t } from "../core/texts";
import { choose, SMOOTHINGS, view } from "./plot-view";

export interface PlotActions {
  readonly csv: () => void;
  readonly png: () => void;
  /** For metrics: whether a logarithmic scale can show all values. */
  readonly positive?: () => boolean;
}

export class PlotMenu {
  readonly element: HTMLDetailsElement;
  readonly #button: HTMLElement;
  readonly #choices: (() => void)[] = [];

  constructor(title: string, { csv, png, positive }: PlotActions) {
    this.#button = h("summary", { class: "button icon-only small", "aria-label": t("plot.menu", { title }), title: t("plot.options") }, icon("more"));
    const panel = h("div", { class: "menu-panel" }, this.#item("table", t("plot.csv"), csv), this.#item("image", t("plot.png"), png));
    if (positive) panel.append(h("div", { class: "menu-split" }), this.#log(positive), this.#smoothing());
    this.element = h("details", { class: "menu end plot-menu", "data-menu": true }, this.#button, panel);
    this.refresh();
  }

  /** Shows the current choices. */
  refresh(): void {
    for (const choice of this.#choices) choice();
  }

  #item(image: string, word: string, act: () => void): HTMLElement {
    const done = () => {
      act();
      this.element.open = false;
      this.#button.focus();
    };
    return h("button", { type: "button", class: "menu-item", onclick: done }, icon(image), word);
  }

  #choice(word: string, chosen: () => boolean, act: () => void): HTMLButtonElement {
    const button = h("button", { type: "button", class: "menu-item", onclick: act }, icon("check"), word);
    this.#choices.push(() => { button.setAttribute("aria-pressed", String(chosen())); });
    return button;
  }

  #log(positive: () => boolean): HTMLElement {
    const button = this.#choice(t("plot.log"), () => view().log && positive(), () => { if (positive()) choose({ log: !view().log }); });
    const why = h("p", { class: "plot-why" }, t("plot.log-none"));
    this.#choices.push(() => {
      const possible = positive();
      // It keeps the focus, and the explanation is read with it.
      button.setAttribute("aria-disabled", String(!possible));
      button.setAttribute("aria-description", possible ? "" : t("plot.log-none"));
      why.hidden = possible;
    });
    return h("div", {}, button, why);
  }

  #smoothing(): HTMLElement {
    const items = SMOOTHINGS.map((weight) =>
      this.#choice(weight === 0 ? t("plot.smoothing-none") : String(weight), () => view().smoothing === weight, () => { choose({ smoothing: weight }); }));
    return h("div", { role: "group", "aria-label": t("plot.smoothing") }, h("div", { class: "menu-title" }, t("plot.smoothing")), ...items);
  }
}
