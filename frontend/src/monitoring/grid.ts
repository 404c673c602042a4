//! The grid of all GPUs of a cluster: one canvas of the visible height, so that ten thousand GPUs scroll as
//! fast as ten. Keys and the pointer select a GPU.

import { coloursIn } from "../canvas/paint/colours";
import type { Colours } from "../canvas/paint/colours";
import { h } from "../core/dom";
import { t } from "../core/texts";
import { onTheme } from "../core/theme";
import type { Card, Node } from "./data";
import { at, cell, CELL, layout, step } from "./layout";
import type { Layout, Spot } from "./layout";
import { paint } from "./paint";
import type { Measure } from "./paint";

const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];

/** Callbacks of the grid. */
export interface GridEvents {
  chosen: (node: Node, card: Card) => void;
  opened: (card: Card) => void;
}

/** The grid; the caller adds `element` to the page. */
export class Grid {
  readonly element: HTMLElement;
  readonly #canvas = h("canvas", { class: "card-canvas", "aria-hidden": "true" });
  readonly #room = h("div", { class: "card-room" }, this.#canvas);
  readonly #events: GridEvents;
  #nodes: readonly Node[] = [];
  #grid: Layout = layout([], 1);
  #measure: Measure = "usage";
  #only = "";
  /** The selected GPU by its UUID: it stays selected when others are inserted before it. */
  #chosen: string | null = null;
  #asked = false;
  /** Cached: reading them takes longer than drawing. */
  #colours: Colours | undefined;

  constructor(events: GridEvents) {
    this.#events = events;
    const help = h("p", { class: "visually-hidden", id: "grid-help" }, t("monitoring.grid-help"));
    this.element = h("div", { class: "card-grid", tabindex: "0", role: "group", "aria-label": t("monitoring.grid"), "aria-describedby": "grid-help" }, this.#room, help);
    this.element.addEventListener("scroll", () => { this.#draw(); }, { passive: true });
    this.element.addEventListener("keydown", (event) => { this.#pressed(event); });
    this.element.addEventListener("focus", () => { this.#draw(); });
    this.element.addEventListener("blur", () => { this.#draw(); });
    this.#canvas.addEventListener("click", (event) => {
      const spot = at(this.#grid, this.#nodes, event.offsetX, event.offsetY + this.element.scrollTop);
      if (spot) this.#choose(spot);
    });
    this.#canvas.addEventListener("dblclick", () => { this.#open(); });
    new ResizeObserver(() => { this.#arrange(); }).observe(this.element);
    onTheme(() => {
      this.#colours = undefined;
      this.#draw();
    });
  }

  /** Shows these nodes. */
  show(nodes: readonly Node[]): void {
    this.#nodes = nodes;
    this.#arrange();
    const spot = this.#spot();
    if (spot) this.#tell(spot);
  }

  /** Sets the measure for colours, and dims all GPUs except those of a state, if one is given. */
  look(measure: Measure, only: string): void {
    this.#measure = measure;
    this.#only = only;
    this.#draw();
  }

  #spot(): Spot | null {
    if (this.#chosen === null) return null;
    for (const [node, { cards }] of this.#nodes.entries()) {
      const card = cards.findIndex((one) => one.uuid === this.#chosen);
      if (card >= 0) return { node, card };
    }
    return null;
  }

  #arrange(): void {
    const width = this.element.clientWidth;
    this.#grid = layout(this.#nodes, width);
    this.#room.style.height = `${this.#grid.height}px`;
    const height = Math.min(this.element.clientHeight, this.#grid.height);
    this.#canvas.style.height = `${height}px`;
    this.#canvas.width = Math.round(width * devicePixelRatio);
    this.#canvas.height = Math.round(height * devicePixelRatio);
    this.#draw();
  }

  /** Once per frame, however often it is requested. */
  #draw(): void {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      const context = this.#canvas.getContext("2d");
      // Outside of the page it has no colours; it is drawn when it is added.
      if (!context || !this.element.isConnected) return;
      const focused = document.activeElement === this.element;
      const scene = { nodes: this.#nodes, grid: this.#grid, measure: this.#measure, only: this.#only, chosen: this.#spot(), focused };
      this.#colours ??= coloursIn(this.element);
      paint(context, this.#colours, scene, this.element.scrollTop);
    });
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
    const [top, high] = [this.element.scrollTop, this.element.clientHeight];
    if (y < top + CELL * 3) this.element.scrollTop = Math.max(0, y - CELL * 3);
    else if (y > top + high - CELL * 2) this.element.scrollTop = y - high + CELL * 2;
    this.#tell(spot);
    this.#draw();
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
