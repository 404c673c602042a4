import { expect, test } from "vitest";

import { rank, ranked, WEAKEST } from "./rank";

const labels = (names: readonly string[], typed: string): string[] => ranked(names.map((label) => ({ label })), typed).map(({ label }) => label);

test("the name itself, its beginning, a word's beginning, a part, and last its letters in this order", () => {
  const names = ["t-r-a-i-n", "restrained", "load train", "training", "train", "other"];
  expect(labels(names, "train")).toEqual(["train", "training", "load train", "restrained", "t-r-a-i-n"]);
  expect(labels(names, "TRAIN ")).toEqual(labels(names, "train"));
  expect(labels(names, "niart")).toEqual([]);
});

test("equal matches stay in their order", () => {
  expect(labels(["t20", "t2", "t21"], "t2")).toEqual(["t2", "t20", "t21"]);
  expect(labels(["b-1", "a-1"], "1")).toEqual(["b-1", "a-1"]);
});

test("an exact id goes before the beginning of a name, and its beginning before a part", () => {
  const run = { label: "nightly", words: "01hf7yat9c0000000000028g0m 00028g0m" };
  const pipeline = { label: "00028g0m-again" };
  expect(ranked([pipeline, run], "00028g0m")).toEqual([run, pipeline]);
  expect(rank(run, "01HF7YAT9C0000000000028G0M")).toBe(0);
  expect(rank(run, "01hf7")).toBe(2);
  expect(rank({ label: "x01hf7" }, "01hf7")).toBe(3);
  expect(rank(run, "zzz")).toBeNull();
});

test("several words may be in any order, in the label or in the search terms", () => {
  const entry = { label: "Lay out from top to bottom", words: "arrange" };
  expect(rank(entry, "bottom arrange")).toBe(4);
  expect(rank(entry, "top to bottom")).toBe(2);
  expect(rank(entry, "bottom left")).toBeNull();
  expect(rank(entry, "lotb")).toBe(WEAKEST);
});

test("names in Chinese, and signs of regular expressions", () => {
  expect(labels(["运行", "所有运行", "流水线"], "运行")).toEqual(["运行", "所有运行"]);
  expect(labels(["a.*b", "ab"], ".*")).toEqual(["a.*b"]);
});

test("one task among a thousand is found at once", () => {
  const names = Array.from({ length: 1000 }, (_, n) => `t${n}`);
  expect(labels(names, "t150")).toEqual(["t150"]);
  expect(labels(names, "t15").slice(0, 2)).toEqual(["t15", "t150"]);
});
