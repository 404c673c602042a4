import { expect, test } from "vitest";

import type { Entry, Section } from "./entry";
import { shown } from "./sections";

const section = (title: string, labels: string[], more: Partial<Section> = {}): Section => {
  return { title, most: 3, entries: labels.map((label): Entry => ({ id: `${title} ${label}`, label, to: "/" })), ...more };
};
const seen = (own: Section[], others: Section[], typed: string) => shown(own, others, typed).map(({ title, entries }) => [title, ...entries.map(({ label }) => label)].join(" "));

test("the section with the best match comes first, and sections without one are left out", () => {
  const pages = section("pages", ["Runs", "Account"]);
  const pipelines = section("pipelines", ["count", "count-all"]);
  expect(seen([], [pages, pipelines], "count")).toEqual(["pipelines count count-all", "pages Account"]);
  expect(seen([], [pages, pipelines], "runs")).toEqual(["pages Runs"]);
});

test("the page's own sections stay above all others", () => {
  const commands = section("commands", ["Recount"]);
  expect(seen([commands], [section("pipelines", ["count"])], "count")).toEqual(["commands Recount", "pipelines count"]);
});

test("without a text there are the first entries, but those of quiet sections", () => {
  const tasks = section("tasks", ["a", "b"], { quiet: true });
  expect(seen([tasks], [section("pages", ["d", "c", "b", "a"])], " ")).toEqual(["pages d c b"]);
  expect(seen([tasks], [], "b")).toEqual(["tasks b"]);
});

test("what the server has matched keeps its order, and stays if the page would not match it", () => {
  const runs = section("runs", ["older-train", "train", "other"], { matched: true });
  expect(seen([], [section("models", ["training"]), runs], "train")).toEqual(["runs older-train train other", "models training"]);
});
