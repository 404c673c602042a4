//! The types of a graph drawing. Everything in this folder is pure: no DOM, no clock.

/** A box to be placed, in pixels. */
export interface Box {
  id: string;
  width: number;
  height: number;
}

/** An edge, by the ids of its ends. */
export interface Edge {
  from: string;
  to: string;
}

/** A point, in pixels. */
export type Point = readonly [x: number, y: number];

/** The direction of edges. */
export type Direction = "right" | "down";

/** A box with the position of its top left corner, and its layer (0 has no predecessor). */
export interface Placed extends Box {
  x: number;
  y: number;
  layer: number;
}

/** An edge with its points, from border to border. */
export interface Routed extends Edge {
  points: Point[];
}

/** A graph with positions; its top left corner is 0, 0. */
export interface Layout {
  direction: Direction;
  nodes: Map<string, Placed>;
  edges: Routed[];
  width: number;
  height: number;
}
