//! Layout of a DAG: layers along the edges, few crossings, straight long edges. 5,000 nodes take well under
//! two seconds, so one algorithm suffices for all sizes.

import { draw, type Drawing, type Given } from "./layout/drawing";
import { netOf } from "./layout/net";
import { packed, partsOf } from "./layout/parts";
import type { Box, Direction, Edge, Layout, Placed, Point, Routed } from "./types";

const GAP = { layer: 48, node: 20, part: 32 };

/** Above this many nodes only one direction is tried. */
const TWO_WAYS = 1000;

/** Options of a layout. */
export interface LayoutOptions {
  /** Previous positions: nodes keep their order, and the drawing keeps its position. */
  previous?: ReadonlyMap<string, Point> | undefined;
}

/** Lays out a graph. Edges with missing ends are ignored. The layout is deterministic. */
export function layOut(boxes: readonly Box[], edges: readonly Edge[], direction: Direction, { previous }: LayoutOptions = {}): Layout {
  const right = direction === "right";
  const given = boxes.map(({ id, width, height }): Given => {
    const was = previous?.get(id);
    return { id, along: right ? width : height, across: right ? height : width, before: was && (right ? was[1] : was[0]) };
  });
  const known = new Set(boxes.map(({ id }) => id));
  const real = edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  const nodes = new Map<string, Placed>();
  const bends = new Map<string, Point[]>();
  const point = ({ along, across }: { along: number; across: number }): Point => (right ? [along, across] : [across, along]);
  const put = (drawing: Drawing, members: readonly number[], corner: { along: number; across: number }, layer: number) => {
    const moved = (at: { along: number; across: number }) => point({ along: at.along + corner.along, across: at.across + corner.across });
    members.forEach((member, index) => {
      const [box, at] = [boxes[member], drawing.places[index]];
      if (!box || !at) return;
      const [x, y] = moved(at);
      nodes.set(box.id, { ...box, x, y, layer: at.layer + layer });
    });
    for (const [edge, points] of drawing.bends) bends.set(edge, points.map(moved));
  };
  drawParts(given, real, put);
  const layout = sized(direction, nodes, real.map((edge) => route(edge, nodes, direction, bends.get(`${edge.from}>${edge.to}`) ?? [])));
  return previous ? movedTo(layout, previous) : layout;
}

type Put = (drawing: Drawing, members: readonly number[], corner: { along: number; across: number }, layer: number) => void;

// Isolated nodes come last, close together.
function drawParts(given: readonly Given[], edges: readonly Edge[], put: Put): void {
  const parts = partsOf(netOf(given.map(({ id }) => id), edges));
  const inOrder = [...parts.filter((part) => part.length > 1), ...parts.filter((part) => part.length === 1)];
  const partOf = new Map(inOrder.flatMap((part, index) => part.map((node) => [given[node]?.id ?? "", index] as const)));
  const own = inOrder.map((): Edge[] => []);
  for (const edge of edges) own[partOf.get(edge.from) ?? 0]?.push(edge);
  const drawings = inOrder.map((part, index) => draw(part.flatMap((node) => given[node] ?? []), own[index] ?? [], GAP));
  const corners = packed(drawings.map(({ size }) => size), GAP.part);
  let layer = 0;
  corners.forEach((corner, index) => {
    const drawing = drawings[index];
    if (!drawing) return;
    layer = corner.column === 0 ? 0 : layer;
    put(drawing, inOrder[index] ?? [], corner, layer);
    layer += drawing.layers;
  });
}

/**
 * Lays out a graph in the direction that shows it larger: to the right, which is how pipelines are read,
 * unless downwards is much larger.
 */
export function layOutFor(boxes: readonly Box[], edges: readonly Edge[], room: { width: number; height: number }): Layout {
  const right = layOut(boxes, edges, "right");
  const scale = ({ width, height }: Layout) => Math.min(1, room.width / width, room.height / height);
  if (scale(right) > 0.9 || boxes.length > TWO_WAYS) return right;
  const down = layOut(boxes, edges, "down");
  return scale(down) > 1.15 * scale(right) ? down : right;
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
  for (const [x, y] of edges.flatMap((edge) => edge.points)) [width, height] = [Math.max(width, x), Math.max(height, y)];
  return { direction, nodes, edges, width, height };
}

// The drawing is shifted by the median displacement of its nodes: most stay in place.
function movedTo(layout: Layout, previous: ReadonlyMap<string, Point>): Layout {
  const stayed = [...layout.nodes.values()].flatMap((node) => {
    const was = previous.get(node.id);
    return was ? [[was[0] - node.x, was[1] - node.y] as const] : [];
  });
  if (stayed.length === 0) return layout;
  const median = (axis: 0 | 1) => stayed.map((by) => by[axis]).sort((a, b) => a - b)[Math.floor(stayed.length / 2)] ?? 0;
  const [dx, dy] = [median(0), median(1)];
  const nodes = new Map([...layout.nodes].map(([id, node]) => [id, { ...node, x: node.x + dx, y: node.y + dy }]));
  const edges = layout.edges.map((edge) => ({ ...edge, points: edge.points.map(([x, y]): Point => [x + dx, y + dy]) }));
  return { ...layout, nodes, edges };
}
