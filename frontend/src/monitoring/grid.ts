//! The grid of all GPUs of a cluster, on one canvas. Keys and the pointer select a GPU.

import { h } from "../core/dom";
import { t } from "../core/texts";
import type { Card, Node } from "./data";
import { at, cell, CELL, layout, step } from "./layout";
import type { Layout, Spot } from "./layout";
import { paint } from "./paint";
import type { Measure } from "./paint";
import { Surface } from "./surface";

const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];

/** Callbacks of the grid. */
export interface GridEvents {
  chosen: (node: Node, card: Card) => void;
  opened: (card: Card) => void;
}

/** The grid; the caller adds `element` to the page. */
export class Grid {
  readonly element: HTMLElement;
  readonly #surface = new Surface({
    arrange: (width) => {
      this.#grid = layout(this.#nodes, width);
      return this.#grid.height;
    },
    paint: (context, colours, top, bottom) => {
      const scene = { nodes: this.#nodes, grid: this.#grid, measure: this.#measure, only: this.#only, chosen: this.#spot(), focused: this.#surface.isFocused };
      paint(context, colours, scene, top, bottom);
    },
  });
  readonly #events: GridEvents;
  #nodes: readonly Node[] = [];
  #grid: Layout = layout([], 1);
  #measure: Measure = "usage";
  #only = "";
  /** The selected GPU by its UUID: it stays selected when others are inserted before it. */
  #chosen: string | null = null;

  constructor(events: GridEvents) {
    this.#events = events;
    const help = h("p", { class: "visually-hidden", id: "grid-help" }, t("monitoring.grid-help"));
    this.element = h("div", { class: "card-grid", tabindex: "0", role: "group", "aria-label": t("monitoring.grid"), "aria-describedby": "grid-help" }, this.#surface.room, help);
    this.element.addEventListener("keydown", (event) => { this.#pressed(event); });
    this.#surface.canvas.addEventListener("click", (event) => {
      const spot = at(this.#grid, this.#nodes, event.offsetX, event.offsetY + this.#surface.top);
      if (spot) this.#choose(spot);
    });
    this.#surface.canvas.addEventListener("dblclick", () => { this.#open(); });
    this.#surface.watch(this.element);
  }

  /** Shows these nodes. */
  show(nodes: readonly Node[]): void {
    this.#nodes = nodes;
    this.#surface.arrange();
    const spot = this.#spot();
    if (spot) this.#tell(spot);
  }

  /** Sets the measure for colours, and dims all GPUs except those of a state, if one is given. */
  look(measure: Measure, only: string): void {
    this.#measure = measure;
    this.#only = only;
    this.#surface.draw();
  }

  #spot(): Spot | null {
    if (this.#chosen === null) return null;
    for (const [node, { cards }] of this.#nodes.entries()) {
      const card = cards.findIndex((one) => one.uuid === this.#chosen);
      if (card >= 0) return { node, card };
    }
    return null;
  }

  #pressed(event: KeyboardEvent): void {
    if (event.key === "Enter") this.#open();
    if (!KEYS.includes(event.key)) return;
    event.preventDefault();
    const spot = step(this.#grid, this.#nodes, this.#spot(), event.key);
    if (spot) this.#choose(spot);
  }

  #choose(spot: Spot): void {
    this.#chosen = this.#nodes[spot.node]?.cards[spot.card]?.uuid ?? null;
    const { y } = cell(this.#grid, spot);
    this.#surface.reveal(y - CELL * 3, y + CELL * 2);
    this.#tell(spot);
    this.#surface.draw();
  }

  #tell({ node, card }: Spot): void {
    const of = this.#nodes[node];
    const one = of?.cards[card];
    if (of && one) this.#events.chosen(of, one);
  }

  #open(): void {
    const spot = this.#spot();
    const card = spot && this.#nodes[spot.node]?.cards[spot.card];
    if (card) this.#events.opened(card);
  }
}
