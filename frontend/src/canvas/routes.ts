//! Routes edges around nodes: computed edge by edge in batches, and cached until something near an edge
//! changes. All lanes are assigned together, after the last route.

import { bent, detour, runsOver } from "../graph/detour";
import { lanesOf, type Pass } from "../graph/lanes";
import type { Curve } from "../graph/line";
import type { Direction } from "../graph/types";
import { boundsOf, curveOf, source, target } from "./curve";
import type { Grid } from "./grid";
import type { SceneEdge, SceneNode } from "./scene";
import { around, touches, type Rect } from "./view";

/** How far beside its ends an edge may go to avoid nodes, in pixels. */
export const ASIDE = 400;

/**
 * An edge longer or wider than this, in pixels, is drawn directly: it is hard to follow, and passes too many
 * nodes.
 */
const LONG = 3000;

/** This many edges are routed at once without a noticeable delay. */
const FEW = 300;

/** The routes of a scene's edges. */
export class Routes {
  readonly #grid: Grid<SceneNode>;
  #direction: Direction = "right";
  #edges: readonly SceneEdge[] = [];
  #waiting: SceneEdge[] = [];
  // By edge key, so that it outlives the edge's object; null is a straight edge.
  #known = new Map<string, readonly Pass[] | null>();

  constructor(grid: Grid<SceneNode>) {
    this.#grid = grid;
  }

  /** Whether every edge has its route. */
  get done(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Replaces the set of edges. `changed` are the areas where nodes were added, removed or moved; `null` is
   * everywhere.
   */
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

  /** Routes some more edges. After the last step all have their paths. */
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

  // The nodes between an edge's ends, and beside them, determine its route.
  #area({ from, to }: SceneEdge): Rect {
    const ends = around([from, to]) ?? from;
    const [x, y] = this.#direction === "right" ? [0, ASIDE] : [ASIDE, 0];
    return { x: ends.x - x, y: ends.y - y, width: ends.width + 2 * x, height: ends.height + 2 * y };
  }
}
