//! A graph of tasks: states, selection, keyboard, pan and zoom. Only visible nodes have elements, so that
//! 5,000 nodes are as fast as five.

import { h, icon, s } from "../core/dom";
import { t } from "../core/texts";
import { layOut, layOutFor } from "../graph/layout";
import { curve, head } from "../graph/line";
import type { Direction, Edge, Layout, Placed } from "../graph/types";
import { stepOf, walk } from "../graph/walk";
import { drawNode, fillNode, NODE, type DagNode } from "./dag/node";
import { factorOf, fitted, watchView, zoomed, type View } from "./dag/view";

export type { DagNode } from "./dag/node";

/** Content and callbacks of a graph. */
export interface DagOptions {
  nodes: DagNode[];
  edges: Edge[];
  /** The label for screen readers. */
  label: string;
  /** Called when a node is selected, by a click or an arrow key; null for none. */
  onSelect?: (id: string | null) => void;
  /**
   * Called when a node is opened, by a click or Enter. This also selects it, without calling `onSelect`. If
   * absent, both only select.
   */
  onOpen?: (id: string) => void;
  /** The direction of edges; if absent, the one that shows the graph larger. */
  direction?: Direction;
}

/** Below this scale a node is only a coloured box. */
const FAR = 0.3;
/** The initial minimum scale, at which words are readable; `0` shows everything. */
const READABLE = 0.7;

/** A rendered graph; `box` gets the class `dag` and keeps its size. */
export class Dag {
  readonly #box: HTMLElement;
  readonly #options: DagOptions;
  readonly #nodes = new Map<string, DagNode>();
  readonly #layout: Layout;
  readonly #scene = s("g");
  readonly #drawn = new Map<string, SVGGElement>();
  readonly #near = s("path", { class: "dag-edge near" });
  readonly #marked = s("path", { class: "dag-edge marked" });
  #view: View = { x: 0, y: 0, scale: 1 };
  #selected: string | null = null;
  #focus: string;
  #frame = 0;
  readonly #resize: ResizeObserver;

  constructor(box: HTMLElement, options: DagOptions) {
    this.#box = box;
    this.#options = options;
    for (const node of options.nodes) this.#nodes.set(node.id, node);
    box.classList.add("dag");
    const boxes = options.nodes.map(({ id }) => ({ id, ...NODE }));
    const { direction, edges } = options;
    this.#layout = direction ? layOut(boxes, edges, direction) : layOutFor(boxes, edges, this.#size());
    this.#focus = options.nodes[0]?.id ?? "";
    this.#build();
    this.#show(fitted(this.#layout, this.#size(), READABLE));
    this.#resize = new ResizeObserver(() => { this.#soon(); });
    this.#resize.observe(box);
  }

  /** Updates nodes: the given fields replace the node's. Unknown ids are ignored. */
  update(changes: Iterable<Partial<DagNode> & { id: string }>): void {
    for (const change of changes) {
      const old = this.#nodes.get(change.id);
      if (!old) continue;
      const node = { ...old, ...change };
      this.#nodes.set(node.id, node);
      const drawn = this.#drawn.get(node.id);
      if (drawn) fillNode(drawn, node);
    }
  }

  /** Marks a node and its edges; null marks none. Does not call `onSelect`. */
  select(id: string | null): void {
    this.#selected = id;
    if (id !== null) this.#focus = id;
    const { edges, direction } = this.#layout;
    const own = id === null ? [] : edges.filter((edge) => edge.from === id || edge.to === id);
    this.#near.setAttribute("d", own.map((edge) => curve(edge, direction)).join(""));
    for (const [other, drawn] of this.#drawn) this.#mark(other, drawn);
  }

  /** Marks these nodes, with a word for it, and the edges from each to the next; others are not marked. */
  highlight(ids: readonly string[], word: string): void {
    const { edges, direction } = this.#layout;
    const next = new Map(ids.slice(1).map((id, index) => [ids[index], id]));
    const own = edges.filter(({ from, to }) => next.get(from) === to);
    this.#marked.setAttribute("d", own.map((edge) => curve(edge, direction)).join(""));
    const marked = new Set(ids);
    const changed = [...this.#nodes.values()].filter(({ id, mark }) => marked.has(id) !== (mark !== undefined));
    this.update(changed.map(({ id }) => ({ id, mark: marked.has(id) ? word : undefined })));
  }

  /** Shows the whole graph. */
  fit(): void {
    this.#show(fitted(this.#layout, this.#size()));
  }

  /** Removes the graph from its box. */
  destroy(): void {
    this.#resize.disconnect();
    cancelAnimationFrame(this.#frame);
    this.#box.replaceChildren();
  }

  #build(): void {
    const { edges, direction } = this.#layout;
    const lines = s("path", { class: "dag-edge", d: edges.map((edge) => curve(edge, direction)).join("") });
    const heads = s("path", { class: "dag-head", d: edges.map((edge) => head(edge, direction)).join("") });
    this.#scene.append(lines, this.#marked, this.#near, heads);
    const svg = s("svg", { class: "dag-scene", role: "group", "aria-label": this.#options.label }, this.#scene);
    this.#box.replaceChildren(svg, this.#tools());
    watchView(svg, () => this.#view, (view) => { this.#show(view); });
    svg.addEventListener("click", (event) => { this.#clicked(event); });
    svg.addEventListener("keydown", (event) => { this.#pressed(event); });
  }

  #tools(): HTMLElement {
    const button = (name: string, label: string, act: () => void) =>
      h("button", { class: "button small icon-only", type: "button", title: label, "aria-label": label, onclick: act }, icon(name));
    return h(
      "div",
      { class: "dag-tools" },
      button("minus", t("common.zoom-out"), () => { this.#zoom(0.8); }),
      button("plus", t("common.zoom-in"), () => { this.#zoom(1.25); }),
      button("fit", t("common.zoom-fit"), () => { this.fit(); }),
    );
  }

  #clicked(event: MouseEvent): void {
    const id = idOf(event.target);
    if (id === null) {
      this.#choose(null);
      return;
    }
    // Lets an opened dialog restore the focus to the node later.
    this.#drawn.get(id)?.focus({ preventScroll: true });
    this.#open(id);
  }

  #pressed(event: KeyboardEvent): void {
    const step = stepOf(event.key, this.#layout);
    const factor = factorOf(event.key);
    if (step) this.#step(walk(this.#layout, this.#focus, step));
    else if (factor !== undefined) this.#zoom(factor);
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter" || event.key === " ") this.#open(this.#focus);
    else if (event.key === "Escape" && this.#selected !== null) this.#choose(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #open(id: string): void {
    if (!this.#options.onOpen) {
      this.#choose(id);
      return;
    }
    this.select(id);
    this.#options.onOpen(id);
  }

  #step(id: string): void {
    this.#choose(id);
    this.#reveal(id);
    this.#draw();
    this.#drawn.get(id)?.focus({ preventScroll: true });
  }

  #choose(id: string | null): void {
    if (id === this.#selected) return;
    this.select(id);
    this.#options.onSelect?.(id);
  }

  #zoom(factor: number): void {
    const { width, height } = this.#size();
    this.#show(zoomed(this.#view, factor, { x: width / 2, y: height / 2 }));
  }

  // Scrolls a node into view.
  #reveal(id: string): void {
    const node = this.#layout.nodes.get(id);
    if (!node) return;
    const { width, height } = this.#size();
    const { x, y, scale } = this.#view;
    const inside = (from: number, length: number, room: number) => {
      if (from < 16) return 16 - from;
      return from + length > room - 16 ? room - 16 - from - length : 0;
    };
    const byX = inside(node.x * scale + x, node.width * scale, width);
    const byY = inside(node.y * scale + y, node.height * scale, height);
    if (byX !== 0 || byY !== 0) this.#show({ scale, x: x + byX, y: y + byY });
  }

  #size(): { width: number; height: number } {
    return { width: this.#box.clientWidth, height: this.#box.clientHeight };
  }

  #show(view: View): void {
    this.#view = view;
    this.#scene.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    this.#scene.classList.toggle("far", view.scale < FAR);
    this.#soon();
  }

  #soon(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => { this.#draw(); });
  }

  #draw(): void {
    const seen = this.#inSight();
    for (const [id, drawn] of this.#drawn) {
      if (seen.has(id) || drawn === document.activeElement) continue;
      drawn.remove();
      this.#drawn.delete(id);
    }
    for (const [id, at] of seen) {
      const node = this.#nodes.get(id);
      if (!node || this.#drawn.has(id)) continue;
      const drawn = drawNode(node, at);
      this.#drawn.set(id, drawn);
      this.#scene.append(drawn);
    }
    if (!this.#drawn.has(this.#focus)) this.#focus = this.#drawn.keys().next().value ?? this.#focus;
    for (const [id, drawn] of this.#drawn) this.#mark(id, drawn);
  }

  #inSight(): Map<string, Placed> {
    const { width, height } = this.#size();
    const { x, y, scale } = this.#view;
    const margin = 80 / scale;
    const [left, top] = [-x / scale - margin, -y / scale - margin];
    const [right, bottom] = [(width - x) / scale + margin, (height - y) / scale + margin];
    const seen = new Map<string, Placed>();
    for (const [id, node] of this.#layout.nodes) {
      if (node.x < right && node.x + node.width > left && node.y < bottom && node.y + node.height > top) seen.set(id, node);
    }
    return seen;
  }

  #mark(id: string, drawn: SVGGElement): void {
    drawn.setAttribute("aria-pressed", String(id === this.#selected));
    drawn.setAttribute("tabindex", id === this.#focus ? "0" : "-1");
  }
}

function idOf(target: EventTarget | null): string | null {
  const node = target instanceof Element ? target.closest<SVGGElement>(".dag-node") : null;
  return node?.dataset["id"] ?? null;
}
