import { expect, it } from "vitest";
import type { Holder } from "./data";
import { fragmented } from "./fragments";

const holder = (task: string) => ({ run: "R", task, pipeline: "p", user: "ada" }) as Holder;
const card = (state: string, tasks: string[] = [], others = 0) => ({ state, holders: tasks.map(holder), others });
const many = (count: number, state: string, tasks: string[] = []) => Array.from({ length: count }, () => card(state, tasks));

it("tells of each node that is partly free, the one with the most free cards first, and of who holds the rest", () => {
  const nodes = [
    { name: "full", cards: many(8, "busy", ["a"]) },
    { name: "empty", cards: many(8, "free") },
    { name: "few", cards: [...many(6, "busy", ["a"]), card("idle", [], 2), card("fragment")] },
    { name: "most", cards: [...many(2, "busy", ["b"]), card("busy", ["c"]), ...many(5, "fragment")] },
  ];
  const found = fragmented(nodes);
  expect(found.map(({ node, free, all, others }) => [node, free, all, others])).toEqual([["most", 5, 8, 0], ["few", 1, 8, 2]]);
  expect(found.map(({ holders }) => holders.map(({ task }) => task))).toEqual([["b", "c"], ["a"]]);
});
