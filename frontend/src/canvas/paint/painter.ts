//! Two surfaces below the nodes' elements: edges and what has no element on the first, what changes at every move of the
//! pointer on the second. Each is painted at most once a frame.

import type { Scene, SceneEdge, SceneNode } from "../scene";
import { inSight, touches, type Rect, type Size, type View } from "../view";
import { coloursIn, type Colours } from "./colours";
import { paintEdges } from "./edges";
import { outlines, paintGround, paintNodes, type NodeLook } from "./nodes";
import { paintOverlay, type Overlay } from "./overlay";

/** What the painter asks of the stage. */
export interface Painted {
  readonly scene: Scene;
  readonly view: View;
  readonly size: Size;
  readonly far: boolean;
  /** Whether a node has an element of its own. */
  has(node: SceneNode): boolean;
  look(node: SceneNode): NodeLook;
  /** Edges that stand out: of what is selected, and what the pointer is at. */
  bright(): Iterable<SceneEdge>;
  /** What is selected. */
  chosen(): Rect[];
  /** Nodes that somebody drags. */
  readonly moving: ReadonlySet<SceneNode>;
  readonly overlay: Overlay;
  /** How many nodes are in sight. */
  readonly count: number;
}

/** With more nodes than this in sight a whole picture takes longer than a frame. */
const HEAVY = 500;

/** A view that has stood still for so many milliseconds is painted sharp. */
const SETTLED = 140;

/** What is painted around what is in sight when the picture is moved instead of painted, as a part of its size. */
const PAD = 0.25;

/** Paints. */
export class Painter {
  readonly #of: Painted;
  readonly #base: HTMLCanvasElement;
  readonly #top: HTMLCanvasElement;
  #colours: Colours;
  #frame = 0;
  #timer = 0;
  #baseIsOld = true;
  #painted: View = { x: 0, y: 0, zoom: 1 };

  constructor(of: Painted, base: HTMLCanvasElement, top: HTMLCanvasElement) {
    this.#of = of;
    this.#base = base;
    this.#top = top;
    this.#colours = coloursIn(base.parentElement ?? document.body);
  }

  get colours(): Colours {
    return this.#colours;
  }

  /** Reads the colours anew. */
  recolour(): void {
    this.#colours = coloursIn(this.#base.parentElement ?? document.body);
    this.all();
  }

  /** Everything is painted with the next frame. */
  all(): void {
    this.#baseIsOld = true;
    this.top();
  }

  /** Another part is in sight: it is painted, or the picture that is there is moved until the view stands still. */
  moved(): void {
    if (!this.#of.far || this.#of.count < HEAVY || this.#baseIsOld) {
      this.all();
      return;
    }
    const { view } = this.#of;
    const scale = view.zoom / this.#painted.zoom;
    this.#base.style.transform = `translate(${view.x - this.#painted.x * scale}px,${view.y - this.#painted.y * scale}px) scale(${scale})`;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => { this.all(); }, SETTLED);
    this.top();
  }

  /** What a gesture shows is painted with the next frame. */
  top(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#baseIsOld) this.#paintBase();
      this.#paintTop();
    });
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
  }

  #paintBase(): void {
    this.#baseIsOld = false;
    const { scene, view, far, moving, size } = this.#of;
    const pad = far && this.#of.count >= HEAVY ? Math.round(PAD * Math.max(size.width, size.height)) : 0;
    const to = this.#begin(this.#base, pad);
    if (!to) return;
    clearTimeout(this.#timer);
    this.#painted = view;
    this.#base.style.transform = "";
    const seen = inSight(view, size, pad + 8);
    if (far) paintGround(to, scene.frames, scene.notes, seen, view.zoom, this.#colours);
    const still = moving.size === 0 ? scene.edges : scene.edges.filter((edge) => !moving.has(edge.from) && !moving.has(edge.to));
    const look = { colour: this.#colours["control-border"], width: view.zoom < 0.16 ? 0.6 : Math.min(1.5, 0.8 + view.zoom), heads: view.zoom > 0.3 };
    to.globalAlpha = view.zoom < 0.16 ? 0.55 : 0.8;
    paintEdges(to, scene, still, seen, view.zoom, look);
    to.globalAlpha = 1;
    this.#paintNodes(to, [...scene.grid.within(seen)].filter((node) => !moving.has(node)));
  }

  #paintTop(): void {
    const { scene, view, moving, overlay, far } = this.#of;
    const to = this.#begin(this.#top, 0);
    if (!to) return;
    const seen = inSight(view, this.#of.size, 8);
    const heads = view.zoom > 0.3;
    if (moving.size > 0) {
      const edges = new Set([...moving].flatMap((node) => [...node.before, ...node.after]));
      paintEdges(to, scene, edges, seen, view.zoom, { colour: this.#colours["control-border"], width: 1.4, heads });
    }
    paintEdges(to, scene, this.#of.bright(), seen, view.zoom, { colour: this.#colours["accent-text"], width: 2.2, heads });
    this.#paintNodes(to, [...moving].filter((node) => touches(node, seen)));
    if (far) outlines(to, this.#of.chosen(), this.#colours["accent-text"], 2.5 / view.zoom);
    paintOverlay(to, overlay, scene.direction, view.zoom, this.#colours);
  }

  #paintNodes(to: CanvasRenderingContext2D, nodes: readonly SceneNode[]): void {
    const drawn = nodes.filter((node) => !this.#of.has(node));
    if (drawn.length > 0) paintNodes(to, drawn, (node) => this.#of.look(node), this.#of.view.zoom, this.#colours);
  }

  #begin(surface: HTMLCanvasElement, pad: number): CanvasRenderingContext2D | null {
    const to = surface.getContext("2d");
    const { view, size } = this.#of;
    const sharp = pad > 0 ? 1 : Math.min(2, devicePixelRatio);
    const [width, height] = [Math.round((size.width + 2 * pad) * sharp), Math.round((size.height + 2 * pad) * sharp)];
    if (surface.width !== width || surface.height !== height) {
      surface.width = width;
      surface.height = height;
      Object.assign(surface.style, { left: `${-pad}px`, top: `${-pad}px`, width: `${size.width + 2 * pad}px`, height: `${size.height + 2 * pad}px`, transformOrigin: `${pad}px ${pad}px` });
    }
    to?.setTransform(1, 0, 0, 1, 0, 0);
    to?.clearRect(0, 0, width, height);
    to?.setTransform(sharp * view.zoom, 0, 0, sharp * view.zoom, sharp * (view.x + pad), sharp * (view.y + pad));
    return to;
  }
}

/** A rectangle between two corners, whichever way it was drawn. */
export function between(x1: number, y1: number, x2: number, y2: number): Rect {
  return { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
}
