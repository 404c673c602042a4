//! Which edges go round nodes, and how: found edge by edge, some at a time, and remembered for as long as nothing near to
//! an edge changes. The lanes of all are given together, when the last one is known.

import { bent, detour, runsOver } from "../graph/detour";
import { lanesOf, type Pass } from "../graph/lanes";
import type { Curve } from "../graph/line";
import type { Direction } from "../graph/types";
import { boundsOf, curveOf, source, target } from "./curve";
import type { Grid } from "./grid";
import type { SceneEdge, SceneNode } from "./scene";
import { around, touches, type Rect } from "./view";

/** How far beside its ends an edge may go to pass nodes, in pixels. */
export const ASIDE = 400;

/** An edge that is longer or wider, in pixels, is drawn plainly: nobody follows it with the eye, and it passes too much. */
const LONG = 3000;

/** So many edges are looked at without making anybody wait. */
const FEW = 300;

/** The ways of a scene's edges. */
export class Routes {
  readonly #grid: Grid<SceneNode>;
  #direction: Direction = "right";
  #edges: readonly SceneEdge[] = [];
  #waiting: SceneEdge[] = [];
  // By edge, so that it outlives the edge's object: null is an edge that goes straight.
  #known = new Map<string, readonly Pass[] | null>();

  constructor(grid: Grid<SceneNode>) {
    this.#grid = grid;
  }

  /** Whether every edge has its way. */
  get done(): boolean {
    return this.#waiting.length === 0;
  }

  /** Takes another set of edges. `changed` are the places where nodes have come, gone or moved; `null` is everywhere. */
  show(edges: readonly SceneEdge[], direction: Direction, changed: readonly Rect[] | null): void {
    const known = this.#known;
    this.#edges = edges;
    this.#direction = direction;
    this.#known = new Map();
    this.#waiting = [];
    for (const edge of edges) {
      const before = known.get(edge.id);
      const area = this.#area(edge);
      if (before === undefined || !changed || changed.some((rect) => touches(area, rect))) this.#waiting.push(edge);
      else this.#known.set(edge.id, before);
    }
    if (this.#waiting.length <= FEW) this.step(FEW);
  }

  /** Finds the ways of some more edges. After the last step all have their lines. */
  step(most: number): void {
    for (const edge of this.#waiting.splice(0, most)) this.#known.set(edge.id, this.#way(edge));
    if (this.done) this.#give();
  }

  #give(): void {
    const lanes = lanesOf([...this.#known.values()].flatMap((passes) => passes ?? []));
    for (const edge of this.#edges) {
      const passes = this.#known.get(edge.id);
      if (!passes || edge.dragged) continue;
      edge.line = bent(source(edge.from, this.#direction), target(edge.to, this.#direction), passes, lanes, this.#direction);
      edge.bounds = boundsOf(edge.line);
    }
  }

  #way(edge: SceneEdge): readonly Pass[] | null {
    const [start, end] = [source(edge.from, this.#direction), target(edge.to, this.#direction)];
    const plain: Curve = curveOf(start, end, this.#direction);
    const area = this.#area(edge);
    if (area.width > LONG || area.height > LONG || !runsOver(plain, this.#others(edge, boundsOf([plain])))) return null;
    return detour(start, end, plain, this.#others(edge, area), this.#direction);
  }

  *#others({ from, to }: SceneEdge, part: Rect): Iterable<SceneNode> {
    for (const node of this.#grid.within(part)) if (node !== from && node !== to) yield node;
  }

  // The nodes between the ends of an edge, and beside these, decide about its way.
  #area({ from, to }: SceneEdge): Rect {
    const ends = around([from, to]) ?? from;
    const [x, y] = this.#direction === "right" ? [0, ASIDE] : [ASIDE, 0];
    return { x: ends.x - x, y: ends.y - y, width: ends.width + 2 * x, height: ends.height + 2 * y };
  }
}
