//! Two surfaces below the nodes' elements: edges and what has no element on the first, what changes at every move of the
//! pointer on the second. Each is painted at most once a frame.

import type { Scene, SceneEdge, SceneNode } from "../scene";
import { inSight, touches, type Rect, type Size, type View } from "../view";
import { coloursIn, type Colours } from "./colours";
import { paintEdges } from "./edges";
import { outlines, paintGround, paintNodes, type NodeLook } from "./nodes";
import { isEmpty, paintOverlay, type Overlay } from "./overlay";
import { Surface, type Drawn } from "./surface";

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

/** A view that leaves a part of the room empty is painted after so many, even while it changes. */
const BARE = 250;

/** The room around what is in sight, in pixels: the same for every picture, as another size of it costs a new memory. */
const PAD = 192;

/** Paints. */
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

  /** Reads the colours anew. */
  recolour(): void {
    this.#colours = coloursIn(this.#root);
    this.all();
  }

  /** Everything is painted with the next frame. */
  all(): void {
    this.#baseIsOld = true;
    this.top();
  }

  /** Another part is in sight: the pictures that are there are moved as far as they reach, and painted when it rests. */
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

  // While somebody drags, the view rests, and a larger picture would cost more with every frame.
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

// In pixels of the screen. Below one pixel a browser draws a line without making a shape of it first, in half the time; so
// edges are that thin for as long as there can be many in sight.
function edgeWidth(zoom: number): number {
  return zoom < 0.16 ? 0.6 : Math.max(0.98, Math.min(1.5, 0.53 + zoom));
}

function sharpness(): number {
  return Math.min(2, devicePixelRatio);
}

/** A rectangle between two corners, whichever way it was drawn. */
export function between(x1: number, y1: number, x2: number, y2: number): Rect {
  return { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
}
