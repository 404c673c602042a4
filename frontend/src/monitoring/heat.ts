//! A heat map of nodes over time, on a canvas of the visible height. Keys and the pointer select a cell, which
//! is described in words.

import type { Colours } from "../canvas/paint/colours";
import { h } from "../core/dom";
import { t } from "../core/texts";
import { heatAt, heatLayout, heatSeen, heatStep, ROW } from "./heat-layout";
import type { HeatLayout, HeatSpot } from "./heat-layout";
import { clipped } from "./paint";
import { Surface } from "./surface";

const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
/** The distance of two cells, in pixels. */
const GAP = 1;

export interface HeatData {
  names: readonly string[];
  /** The shares of each row, from 0 to 1; null for no data. */
  shares: readonly (readonly (number | null)[])[];
  columns: number;
}

/** The heat map; the caller adds `element` to the page. */
export class Heat {
  readonly element: HTMLElement;
  readonly #surface = new Surface({
    arrange: (width) => {
      this.#layout = heatLayout(this.#data.names.length, this.#data.columns, width);
      return this.#layout.height;
    },
    paint: (context, colours, top, bottom) => { this.#paint(context, colours, top, bottom); },
  });
  readonly #grid = h("div", { class: "card-grid heat-grid", tabindex: "0", role: "group", "aria-label": t("monitoring.heat"), "aria-describedby": "heat-help" }, this.#surface.room);
  readonly #said = h("p", { class: "small number heat-said", "aria-live": "polite" });
  readonly #describe: (spot: HeatSpot) => string;
  #data: HeatData = { names: [], shares: [], columns: 0 };
  #layout: HeatLayout = heatLayout(0, 0, 1);
  #chosen: HeatSpot | null = null;

  constructor(describe: (spot: HeatSpot) => string) {
    this.#describe = describe;
    const help = h("p", { class: "muted small", id: "heat-help" }, t("monitoring.heat-help"));
    this.element = h("div", { class: "card padded" }, this.#grid, this.#said, help);
    this.#grid.addEventListener("keydown", (event) => { this.#pressed(event); });
    this.#surface.canvas.addEventListener("pointermove", (event) => {
      const spot = heatAt(this.#layout, event.offsetX, event.offsetY + this.#surface.top);
      if (spot) this.#choose(spot);
    });
    this.#surface.watch(this.#grid);
  }

  show(data: HeatData): void {
    this.#data = data;
    this.#surface.arrange();
    if (this.#chosen && (this.#chosen.row >= data.names.length || this.#chosen.column >= data.columns)) this.#chosen = null;
    this.#said.textContent = this.#chosen ? this.#describe(this.#chosen) : "";
  }

  #paint(context: CanvasRenderingContext2D, colours: Colours, top: number, bottom: number): void {
    context.textBaseline = "middle";
    const [first, last] = heatSeen(this.#layout, top, bottom);
    for (let row = first; row < last; row++) {
      context.fillStyle = colours["text-muted"];
      context.fillText(clipped(context, this.#data.names[row] ?? "", this.#layout.label - 6), 0, (row + 0.5) * ROW);
      this.#data.shares[row]?.forEach((share, column) => { if (share !== null) this.#cell(context, colours, { row, column }, share); });
    }
    if (this.#chosen) {
      const { x, y, wide } = this.#place(this.#chosen);
      context.strokeStyle = this.#surface.isFocused ? colours.text : colours["text-muted"];
      context.lineWidth = 2;
      context.strokeRect(x, y, wide, ROW - GAP);
    }
  }

  #place({ row, column }: HeatSpot): { x: number; y: number; wide: number } {
    const { label, wide } = this.#layout;
    return { x: label + column * wide, y: row * ROW, wide: Math.max(1, wide - GAP) };
  }

  #cell(context: CanvasRenderingContext2D, colours: Colours, spot: HeatSpot, share: number): void {
    const { x, y, wide } = this.#place(spot);
    context.fillStyle = colours.border;
    context.fillRect(x, y, wide, ROW - GAP);
    context.globalAlpha = Math.min(1, Math.max(0, share));
    context.fillStyle = colours["series-1"];
    context.fillRect(x, y, wide, ROW - GAP);
    context.globalAlpha = 1;
  }

  #pressed(event: KeyboardEvent): void {
    if (!KEYS.includes(event.key)) return;
    event.preventDefault();
    const spot = heatStep(this.#layout, this.#chosen, event.key);
    if (spot) this.#choose(spot);
  }

  #choose(spot: HeatSpot): void {
    if (spot.row === this.#chosen?.row && spot.column === this.#chosen.column) return;
    this.#chosen = spot;
    this.#surface.reveal(spot.row * ROW, (spot.row + 1) * ROW);
    this.#said.textContent = this.#describe(spot);
    this.#surface.draw();
  }
}
