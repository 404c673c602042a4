import { expect, test } from "vitest";
import { changeOf } from "./change";
import { fieldsOf } from "./read";

test("another version is compared argument by argument, and with what the task gives", () => {
  const before = fieldsOf({ required: ["path"], properties: { path: { type: "string" }, rounds: { type: "integer", default: 1 }, old: { type: "string" } } });
  const after = fieldsOf({ required: ["path", "mode"], properties: { path: { type: "string", title: "Other words" }, rounds: { type: "integer", default: 2 }, mode: { type: "string" } } });
  expect(changeOf(before, after, { path: "a", rounds: 3, old: "x" })).toEqual({ added: ["mode"], removed: ["old"], changed: ["rounds"], refused: ["old"], missing: ["mode"] });
  expect(changeOf(before, before, { path: "a" })).toEqual({ added: [], removed: [], changed: [], refused: [], missing: [] });
});
