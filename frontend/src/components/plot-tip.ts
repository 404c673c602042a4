//! The tooltip of a plot: the position and the values there. Moves by keyboard are also announced.

import { h } from "../core/dom";
import { t } from "../core/texts";
import { placed } from "./plot-values";

/** More rows would not fit into the plot. */
const ROWS = 8;

/** What a tooltip shows; `raw` is the value before smoothing. */
export interface Tip {
  readonly head: string;
  readonly rows: readonly { readonly mark: HTMLElement; readonly label: string; readonly value: string; readonly raw?: string }[];
}

export class PlotTip {
  /** What a screen reader announces. */
  readonly said = h("p", { class: "visually-hidden", role: "status" });
  readonly element = h("div", { class: "plot-tip", "aria-hidden": "true", hidden: true });

  /** Shows it near a position in the plot's box. */
  show({ head, rows }: Tip, at: { left: number; top: number }, announced: boolean): void {
    const more = rows.length - ROWS;
    this.element.replaceChildren(
      h("div", { class: "plot-tip-head" }, head),
      ...rows.slice(0, ROWS).map(({ mark, label, value, raw }) => h("div", { class: "plot-tip-row" },
        mark, h("span", { class: "plot-tip-name" }, label), h("b", {}, value), raw !== undefined && h("span", { class: "muted" }, `(${raw})`))),
    );
    if (more > 0) this.element.append(h("div", { class: "muted" }, t("plot.more", { n: more })));
    this.element.hidden = false;
    const box = this.element.offsetParent;
    if (box === null) return;
    const { left, top } = placed(at, { width: this.element.offsetWidth, height: this.element.offsetHeight }, { width: box.clientWidth, height: box.clientHeight });
    this.element.style.setProperty("left", `${left}px`);
    this.element.style.setProperty("top", `${top}px`);
    this.said.textContent = announced ? `${head}. ${rows.map(({ label, value }) => `${label}: ${value}`).join("; ")}` : "";
  }

  hide(): void {
    this.element.hidden = true;
    this.said.textContent = "";
  }
}
