import { expect, test } from "vitest";
import { layOut, layOutFor } from "../layout";
import { curve } from "../line";
import type { Edge, Layout } from "../types";
import { walk } from "../walk";

const box = (id: string) => ({ id, width: 180, height: 48 });
const diamond: Edge[] = [
  { from: "pull", to: "a" },
  { from: "pull", to: "b" },
  { from: "a", to: "join" },
  { from: "b", to: "join" },
];

function overlaps(layout: Layout): string[] {
  const nodes = [...layout.nodes.values()].sort((a, b) => a.x - b.x);
  const found: string[] = [];
  nodes.forEach((a, index) => {
    for (let other = index + 1; other < nodes.length; other += 1) {
      const b = nodes[other];
      if (!b || b.x >= a.x + a.width) break;
      if (a.y < b.y + b.height && b.y < a.y + a.height) found.push(`${a.id} and ${b.id}`);
    }
  });
  return found;
}

/** `layers` layers of `width` nodes, each with three dependencies in the previous layer. */
function wide(layers: number, width: number): { ids: string[]; edges: Edge[] } {
  const ids = Array.from({ length: layers * width }, (_, index) => `n${index}`);
  const edges = ids.slice(width).flatMap((to, index) =>
    [0, 1, 7].map((by) => ({ from: `n${Math.floor(index / width) * width + ((index + by) % width)}`, to })),
  );
  return { ids, edges };
}

test.each(["right", "down"] as const)("edges lead %s, from border to border, and nothing overlaps", (direction) => {
  const layout = layOut(["pull", "a", "b", "join"].map(box), diamond, direction);
  const along = (id: string) => layout.nodes.get(id)?.[direction === "right" ? "x" : "y"] ?? 0;
  expect(along("pull")).toBeLessThan(along("a"));
  expect(along("a")).toBe(along("b"));
  expect(along("b")).toBeLessThan(along("join"));
  expect(overlaps(layout)).toEqual([]);
  const first = layout.edges[0];
  expect(first && curve(first, direction)).toMatch(/^M[\d.]+ [\d.]+C/);
});

test("five thousand nodes do not overlap", () => {
  const { ids, edges } = wide(50, 100);
  const layout = layOut(ids.map(box), edges, "right");
  expect(layout.nodes.size).toBe(5000);
  expect(overlaps(layout)).toEqual([]);
  expect(Math.min(...[...layout.nodes.values()].map((node) => node.y))).toBe(0);
  expect(layout.edges.every((edge) => (edge.points[0]?.[0] ?? 0) < (edge.points.at(-1)?.[0] ?? 0))).toBe(true);
});

test("an edge to a node that is not there, and a loop, are left out", () => {
  const layout = layOut([box("a")], [{ from: "a", to: "a" }, { from: "a", to: "gone" }], "right");
  expect(layout.edges).toEqual([]);
  expect(layout.width).toBe(180);
});

test("arrow keys lead along edges and to neighbours, and stay where nothing is", () => {
  const layout = layOut(["pull", "a", "b", "join"].map(box), diamond, "right");
  const beside = walk(layout, "a", "next") === "b" ? "next" : "previous";
  expect(walk(layout, "a", beside)).toBe("b");
  expect(walk(layout, "a", "forward")).toBe("join");
  expect(walk(layout, "a", "back")).toBe("pull");
  expect(walk(layout, "join", "forward")).toBe("join");
});

test("a long chain leads right in a wide room and down in a narrow one", () => {
  const chain = ["a", "b", "c", "d", "e"];
  const edges = chain.slice(1).map((to, index) => ({ from: chain[index] ?? "", to }));
  expect(layOutFor(chain.map(box), edges, { width: 1200, height: 400 }).direction).toBe("right");
  expect(layOutFor(chain.map(box), edges, { width: 360, height: 500 }).direction).toBe("down");
});

test("two thousand nodes are laid out in seconds", { timeout: 120_000 }, () => {
  const { ids, edges } = wide(40, 50);
  const taken = () => {
    const began = performance.now();
    expect(layOut(ids.map(box), edges, "right").nodes.size).toBe(2000);
    return performance.now() - began;
  };
  // Some tenths of a second on an idle machine: far more means another complexity. The margin is for busy
  // machines, and the second attempt for temporary load.
  expect(Math.min(...[taken(), taken()])).toBeLessThan(10_000);
});
