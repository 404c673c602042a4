//! Two surfaces below the nodes' elements: the first has edges and nodes without elements, the second changes
//! with every pointer move. Each is painted at most once per frame.

import type { Scene, SceneEdge, SceneNode } from "../scene";
import { inSight, touches, type Rect, type Size, type View } from "../view";
import { coloursIn, type Colours } from "./colours";
import { paintEdges } from "./edges";
import { outlines, paintGround, paintNodes, type NodeLook } from "./nodes";
import { isEmpty, paintOverlay, type Overlay } from "./overlay";
import { Surface, type Drawn } from "./surface";

/** What the painter needs from the stage. */
export interface Painted {
  readonly scene: Scene;
  readonly view: View;
  readonly size: Size;
  readonly far: boolean;
  /** Whether a node has its own element. */
  has(node: SceneNode): boolean;
  look(node: SceneNode): NodeLook;
  /** Highlighted edges: of the selection, and at the pointer. */
  bright(): Iterable<SceneEdge>;
  /** The boxes of the selection. */
  chosen(): Rect[];
  /** The nodes being dragged. */
  readonly moving: ReadonlySet<SceneNode>;
  readonly overlay: Overlay;
  /** The number of visible nodes. */
  readonly count: number;
}

/** With more visible nodes than this, a complete repaint takes longer than a frame. */
const HEAVY = 500;

/** A view is repainted at full resolution after this many milliseconds without a change. */
const SETTLED = 140;

/** A view with unpainted parts is repainted after this many milliseconds, even while it changes. */
const BARE = 250;

/**
 * The painted margin around the visible part, in pixels: constant, because a different size allocates new
 * memory.
 */
const PAD = 192;

export class Painter {
  readonly #of: Painted;
  readonly #root: HTMLElement;
  readonly #base: Surface;
  readonly #top: Surface;
  #colours: Colours;
  #frame = 0;
  #timer = 0;
  #baseIsOld = true;
  #bare = false;

  constructor(of: Painted, base: HTMLCanvasElement, top: HTMLCanvasElement) {
    this.#of = of;
    this.#root = base.parentElement ?? document.body;
    this.#base = new Surface(base);
    this.#top = new Surface(top);
    this.#colours = coloursIn(this.#root);
  }

  get colours(): Colours {
    return this.#colours;
  }

  /** Reads the colours again. */
  recolour(): void {
    this.#colours = coloursIn(this.#root);
    this.all();
  }

  /** Repaints everything in the next frame. */
  all(): void {
    this.#baseIsOld = true;
    this.top();
  }

  /**
   * The view has changed: shifts the existing images as far as they reach, and repaints when it is settled.
   */
  moved(): void {
    const { view, count } = this.#of;
    const zooms = this.#base.zoom !== view.zoom;
    if (this.#baseIsOld || (zooms ? count < HEAVY : !this.#base.reaches(view))) {
      this.all();
      return;
    }
    this.#base.shift(view);
    const bare = !this.#base.fills(view, this.#of.size);
    if (!bare || !this.#bare) {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => { this.all(); }, bare ? BARE : SETTLED);
    }
    this.#bare = bare;
    this.top();
  }

  /** Repaints the gesture's feedback in the next frame. */
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

  // During a drag the view does not move, and a larger image would slow every frame.
  get #pad(): number {
    return this.#of.moving.size > 0 ? 0 : PAD;
  }

  #paintBase(): void {
    this.#baseIsOld = this.#bare = false;
    const { scene, view, far, moving, size, count } = this.#of;
    const pad = this.#pad;
    clearTimeout(this.#timer);
    const seen = inSight(view, size, pad + 8);
    const still = moving.size === 0 ? scene.edges : scene.edges.filter((edge) => !moving.has(edge.from) && !moving.has(edge.to));
    const look = { colour: this.#colours["control-border"], width: edgeWidth(view.zoom), heads: view.zoom > 0.3 };
    this.#base.show({ view, size, pad, sharp: count >= HEAVY ? 1 : sharpness() }, (to) => {
      if (far) paintGround(to, scene.frames, scene.notes, seen, view.zoom, this.#colours);
      to.globalAlpha = view.zoom < 0.16 ? 0.55 : 0.8;
      paintEdges(to, scene, still, seen, view.zoom, look);
      to.globalAlpha = 1;
      this.#paintNodes(to, [...scene.grid.within(seen)].filter((node) => !moving.has(node)));
    });
  }

  #paintTop(): void {
    const { scene, view, moving, overlay, far, size } = this.#of;
    const [bright, chosen] = [[...this.#of.bright()], far ? this.#of.chosen() : []];
    if (moving.size + bright.length + chosen.length === 0 && isEmpty(overlay)) {
      this.#top.hide();
      return;
    }
    const seen = inSight(view, size, 8);
    const heads = view.zoom > 0.3;
    const edges = new Set([...moving].flatMap((node) => [...node.before, ...node.after]));
    this.#top.show({ view, size, pad: 0, sharp: sharpness() }, (to) => {
      paintEdges(to, scene, edges, seen, view.zoom, { colour: this.#colours["control-border"], width: 1.4, heads });
      paintEdges(to, scene, bright, seen, view.zoom, { colour: this.#colours["accent-text"], width: 2.2, heads });
      this.#paintNodes(to, [...moving].filter((node) => touches(node, seen)));
      if (far) outlines(to, chosen, this.#colours["accent-text"], 2.5 / view.zoom);
      paintOverlay(to, overlay, scene.direction, view.zoom, this.#colours);
    });
  }

  #paintNodes(to: Drawn, nodes: readonly SceneNode[]): void {
    const drawn = nodes.filter((node) => !this.#of.has(node));
    if (drawn.length > 0) paintNodes(to, drawn, (node) => this.#of.look(node), this.#of.view.zoom, this.#colours);
  }
}

// In screen pixels. Browsers draw lines below one pixel without tessellation, in half the time: edges are
// that thin while many may be visible.
function edgeWidth(zoom: number): number {
  return zoom < 0.16 ? 0.6 : Math.max(0.98, Math.min(1.5, 0.53 + zoom));
}

function sharpness(): number {
  return Math.min(2, devicePixelRatio);
}

/** A rectangle between two corners, in any order. */
export function between(x1: number, y1: number, x2: number, y2: number): Rect {
  return { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
}
