//! Places for the nodes of a DAG: dagre up to some hundreds, our own fast layout above.

import { Graph, layout as dagre } from "@dagrejs/dagre";
import { layersOf, neighbours } from "./layers";
import { placeLarge } from "./large";
import type { Box, Direction, Edge, Layout, Placed, Point, Routed } from "./types";

/** Above this many nodes and edges dagre takes longer than a person waits. */
const DAGRE_LIMIT = 700;

const GAP = { layer: 48, node: 20 };

/** Lays a graph out. Edges whose ends are not there are left out. */
export function layOut(boxes: readonly Box[], edges: readonly Edge[], direction: Direction): Layout {
  const known = new Set(boxes.map((box) => box.id));
  const real = edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  return boxes.length + real.length > DAGRE_LIMIT ? large(boxes, real, direction) : small(boxes, real, direction);
}

/**
 * Lays a graph out so that it is shown as large as it can in a room: right, which is how pipelines are read, unless
 * down shows it a good deal larger.
 */
export function layOutFor(boxes: readonly Box[], edges: readonly Edge[], room: { width: number; height: number }): Layout {
  const right = layOut(boxes, edges, "right");
  const scale = ({ width, height }: Layout) => Math.min(1, room.width / width, room.height / height);
  if (scale(right) > 0.9 || boxes.length > DAGRE_LIMIT) return right;
  const down = layOut(boxes, edges, "down");
  return scale(down) > 1.15 * scale(right) ? down : right;
}

function small(boxes: readonly Box[], edges: readonly Edge[], direction: Direction): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction === "right" ? "LR" : "TB", ranksep: GAP.layer, nodesep: GAP.node, edgesep: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
  for (const { from, to } of edges) graph.setEdge(from, to);
  dagre(graph);
  const ids = boxes.map((box) => box.id);
  const layer = layersOf(ids, neighbours(ids, edges));
  const nodes = new Map<string, Placed>();
  for (const box of boxes) {
    const { x, y } = graph.node(box.id) as { x: number; y: number };
    nodes.set(box.id, { ...box, x: x - box.width / 2, y: y - box.height / 2, layer: layer.get(box.id) ?? 0 });
  }
  const routed = edges.map((edge) => {
    const { points } = graph.edge(edge.from, edge.to) as { points: { x: number; y: number }[] };
    return route(edge, nodes, direction, points.slice(1, -1).map(({ x, y }): Point => [x, y]));
  });
  return sized(direction, nodes, routed);
}

function large(boxes: readonly Box[], edges: readonly Edge[], direction: Direction): Layout {
  const turn = (box: Box): Box => (direction === "right" ? box : { id: box.id, width: box.height, height: box.width });
  const placed = placeLarge(boxes.map(turn), edges, GAP);
  const nodes = new Map<string, Placed>();
  for (const [id, { x, y, layer, ...box }] of placed) {
    nodes.set(id, direction === "right" ? { ...box, x, y, layer } : { ...turn(box), x: y, y: x, layer });
  }
  return sized(direction, nodes, edges.map((edge) => route(edge, nodes, direction, [])));
}

function route(edge: Edge, nodes: Map<string, Placed>, direction: Direction, between: Point[]): Routed {
  const [from, to] = [nodes.get(edge.from), nodes.get(edge.to)];
  if (!from || !to) return { ...edge, points: [] };
  const start: Point = direction === "right" ? [from.x + from.width, from.y + from.height / 2] : [from.x + from.width / 2, from.y + from.height];
  const end: Point = direction === "right" ? [to.x, to.y + to.height / 2] : [to.x + to.width / 2, to.y];
  return { ...edge, points: [start, ...between, end] };
}

function sized(direction: Direction, nodes: Map<string, Placed>, edges: Routed[]): Layout {
  let [width, height] = [0, 0];
  for (const node of nodes.values()) {
    width = Math.max(width, node.x + node.width);
    height = Math.max(height, node.y + node.height);
  }
  return { direction, nodes, edges, width, height };
}

/** An SVG path through an edge's points, leaving and arriving straight. */
export function curve({ points }: Routed, direction: Direction): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let [x, y] = first;
  let path = `M${round(x)} ${round(y)}`;
  for (const [toX, toY] of rest) {
    const [middleX, middleY] = [(x + toX) / 2, (y + toY) / 2];
    path +=
      direction === "right"
        ? `C${round(middleX)} ${round(y)} ${round(middleX)} ${round(toY)} ${round(toX)} ${round(toY)}`
        : `C${round(x)} ${round(middleY)} ${round(toX)} ${round(middleY)} ${round(toX)} ${round(toY)}`;
    [x, y] = [toX, toY];
  }
  return path;
}

/** The arrow's head at the end of an edge. */
export function head({ points }: Routed, direction: Direction): string {
  const end = points.at(-1);
  if (!end) return "";
  const [x, y] = [round(end[0]), round(end[1])];
  return direction === "right" ? `M${x} ${y}l-7 -4v8z` : `M${x} ${y}l-4 -7h8z`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
