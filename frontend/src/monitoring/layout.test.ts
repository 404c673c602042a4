import { expect, test } from "vitest";
import { at, cell, CELL, layout, seen, step } from "./layout";

const nodes = (...counts: number[]) => counts.map((count) => ({ cards: Array.from({ length: count }) }));

test("every card is found where it stands, and nothing beside it", () => {
  const there = nodes(8, 0, 16, 1, 8);
  const grid = layout(there, 480);
  expect(grid.columns).toBe(3);
  there.forEach((node, n) => {
    node.cards.forEach((_, card) => {
      const { x, y } = cell(grid, { node: n, card });
      expect(at(grid, there, x + CELL / 2, y + CELL / 2)).toEqual({ node: n, card });
    });
  });
  expect(at(grid, there, -1, 5)).toBeNull();
  expect(at(grid, there, 2, 2)).toBeNull();
  expect(at(grid, there, 5, grid.height + 500)).toBeNull();
});

test("keys go over all cards, and pass nodes without one", () => {
  const there = nodes(2, 0, 1);
  const grid = layout(there, 2000);
  const right = (from: Parameters<typeof step>[2]) => step(grid, there, from, "ArrowRight");
  expect(right(null)).toEqual({ node: 0, card: 0 });
  expect(right({ node: 0, card: 1 })).toEqual({ node: 2, card: 0 });
  expect(right({ node: 2, card: 0 })).toEqual({ node: 2, card: 0 });
  expect(step(grid, there, { node: 2, card: 0 }, "ArrowLeft")).toEqual({ node: 0, card: 1 });
  expect(step(grid, there, { node: 0, card: 0 }, "End")).toEqual({ node: 2, card: 0 });
  const narrow = layout(there, 100);
  expect(step(narrow, there, { node: 0, card: 1 }, "ArrowDown")).toEqual({ node: 2, card: 0 });
  expect(step(narrow, nodes(0), null, "ArrowDown")).toBeNull();
});

test("only what is seen is drawn", () => {
  const there = nodes(...Array.from({ length: 1000 }, () => 8));
  const grid = layout(there, 1390);
  const [first, last] = seen(grid, there.length, 1000, 1600);
  expect(last - first).toBeLessThan(150);
  expect(cell(grid, { node: first, card: 0 }).y).toBeLessThanOrEqual(1040);
  expect(seen(grid, there.length, grid.height, grid.height + 600)[1]).toBe(1000);
});
