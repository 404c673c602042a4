import fc from "fast-check";
import { expect, test } from "vitest";
import { layOut } from "../layout";
import type { Edge, Layout, Placed } from "../types";
import { crossings } from "./crossings";
import { lists } from "./net";

const box = (id: string) => ({ id, width: 180, height: 48 });

/** A graph without cycles: edges lead to higher numbers. */
const dag = fc.integer({ min: 1, max: 40 }).chain((count) =>
  fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 90 }).map((pairs) => ({
    ids: Array.from({ length: count }, (_, index) => `n${index}`),
    edges: pairs.filter(([a, b]) => a !== b).map(([a, b]): Edge => ({ from: `n${Math.min(a, b)}`, to: `n${Math.max(a, b)}` })),
  })),
);

const overlap = (a: Placed, b: Placed) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

function expectApart(layout: Layout): void {
  const nodes = [...layout.nodes.values()];
  nodes.forEach((a, index) => {
    for (const b of nodes.slice(index + 1)) expect(overlap(a, b), `${a.id} and ${b.id}`).toBe(false);
  });
}

test("in any graph nothing overlaps, every edge leads forward, and the corner is at the origin", () => {
  fc.assert(
    fc.property(dag, fc.constantFrom("right" as const, "down" as const), ({ ids, edges }, direction) => {
      const layout = layOut(ids.map(box), edges, direction);
      expect(layout.nodes.size).toBe(ids.length);
      expectApart(layout);
      for (const { from, to } of edges) {
        const [a, b] = [layout.nodes.get(from), layout.nodes.get(to)];
        if (direction === "right") expect((a?.x ?? 0) + 180).toBeLessThan(b?.x ?? 0);
        else expect((a?.y ?? 0) + 48).toBeLessThan(b?.y ?? 0);
      }
      const corners = [...[...layout.nodes.values()].map(({ x, y }) => [x, y] as const), ...layout.edges.flatMap((edge) => edge.points)];
      expect(Math.min(...corners.map(([x]) => x))).toBeCloseTo(0);
      expect(Math.min(...corners.map(([, y]) => y))).toBeCloseTo(0);
    }),
  );
});

test("a cycle in a draft is drawn too", () => {
  const layout = layOut(["a", "b", "c"].map(box), [{ from: "a", to: "b" }, { from: "b", to: "c" }, { from: "c", to: "a" }], "right");
  expectApart(layout);
  expect(layout.edges.every((edge) => edge.points.length >= 2)).toBe(true);
});

test("when one node is added the others keep their order in each layer", () => {
  fc.assert(
    fc.property(dag, fc.nat(39), ({ ids, edges }, after) => {
      const before = layOut(ids.map(box), edges, "right");
      const previous = new Map([...before.nodes].map(([id, node]) => [id, [node.x, node.y] as const]));
      const parent = ids[after % ids.length] ?? "";
      const now = layOut([...ids, "new"].map(box), [...edges, { from: parent, to: "new" }], "right", { previous });
      expectApart(now);
      // Only within previous components: two components that a node joins may change sides.
      for (const a of ids) {
        for (const b of ids) {
          const [wasA, wasB, isA, isB] = [before.nodes.get(a), before.nodes.get(b), now.nodes.get(a), now.nodes.get(b)];
          if (!wasA || !wasB || !isA || !isB || wasA.x !== wasB.x || isA.x !== isB.x) continue;
          if (edges.some((edge) => edge.from === a || edge.to === a) && edges.some((edge) => edge.from === b || edge.to === b) && wasA.y < wasB.y) {
            expect(isA.y, `${a} stays above ${b}`).toBeLessThan(isB.y);
          }
        }
      }
    }),
  );
});

// Layers of equal width, each node with two dependencies in the previous layer.
test.each([[8, 6], [20, 10], [50, 20]])("in %i layers of %i, one more node leaves about half of the others at their very places, and all in their layers", (layers, width) => {
  const ids = Array.from({ length: layers * width }, (_, index) => `n${index}`);
  const edges = ids.slice(width).flatMap((to, index) => [0, 1].map((by): Edge => ({ from: `n${Math.floor(index / width) * width + ((index + by) % width)}`, to })));
  const before = layOut(ids.map(box), edges, "right");
  const previous = new Map([...before.nodes].map(([id, node]) => [id, [node.x, node.y] as const]));
  const staying = (parent: string) => {
    const now = layOut([...ids, "new"].map(box), [...edges, { from: parent, to: "new" }], "right", { previous });
    expect(ids.filter((id) => now.nodes.get(id)?.x !== before.nodes.get(id)?.x)).toEqual([]);
    return ids.filter((id) => now.nodes.get(id)?.y === before.nodes.get(id)?.y).length / ids.length;
  };
  expect(staying("n0"), "behind the first").toBeGreaterThan(0.45);
  expect(staying(`n${ids.length / 2}`), "in the middle").toBeGreaterThan(0.45);
  expect(staying(ids.at(-1) ?? ""), "at the end").toBe(1);
});

test("what is laid out again where it was does not move", () => {
  fc.assert(
    fc.property(dag, ({ ids, edges }) => {
      const once = layOut(ids.map(box), edges, "right");
      const again = layOut(ids.map(box), edges, "right");
      expect([...again.nodes]).toEqual([...once.nodes]);
    }),
  );
});

test("a long edge is straight between its ends' layers", () => {
  const chain = ["a", "b", "c", "d", "e"];
  const edges = [...chain.slice(1).map((to, index) => ({ from: chain[index] ?? "", to })), { from: "a", to: "e" }];
  const long = layOut(chain.map(box), edges, "right").edges.find((edge) => edge.from === "a" && edge.to === "e");
  const inner = long?.points.slice(1, -1) ?? [];
  expect(inner.length).toBe(6);
  expect(new Set(inner.map(([, y]) => Math.round(y))).size).toBe(1);
});

test("a thousand tasks without edges are a block, no tower", () => {
  const { width, height } = layOut(Array.from({ length: 1000 }, (_, index) => box(`n${index}`)), [], "right");
  expect(width / height).toBeGreaterThan(0.8);
  expect(width / height).toBeLessThan(3);
});

test("crossings are counted as by comparing every pair of edges", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(fc.nat(8), fc.nat(8)), { selector: ([a, b]) => a * 9 + b }), (pairs) => {
      const after = lists(9, Int32Array.from(pairs, ([a]) => a), Int32Array.from(pairs, ([, b]) => b));
      const place = Float64Array.from({ length: 9 }, (_, index) => index);
      const slow = pairs.reduce((sum, [a, b], index) => sum + pairs.slice(index + 1).filter(([c, d]) => (a - c) * (b - d) < 0).length, 0);
      expect(crossings([0, 1, 2, 3, 4, 5, 6, 7, 8], 9, after, place)).toBe(slow);
    }),
  );
});
