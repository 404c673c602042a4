import { expect, test } from "vitest";
import { emptyDocument, type PipelineDocument } from "../graph/document";
import { renameTask } from "../graph/edit";
import { NONE, shownAfter } from "./instance";

const document: PipelineDocument = { ...emptyDocument("p"), tasks: ["a", "b", "c"].map((name) => ({ name, template: "command" })) };
const without = (name: string): PipelineDocument => ({ ...document, tasks: document.tasks.filter((task) => task.name !== name) });

test("a renamed task keeps its form, also when the rename is undone", () => {
  const shown = shownAfter(NONE, document, "b");
  const renamed = shownAfter(shown, renameTask(document, "b", "better"), "better");
  expect(renamed.key).toBe(shown.key);
  expect(shownAfter(renamed, document, "b").key).toBe(shown.key);
});

test("another task has another form: also in the place of a removed one", () => {
  const shown = shownAfter(NONE, document, "b");
  expect(shownAfter(shown, document, "c").key).not.toBe(shown.key);
  expect(shownAfter(shown, without("b"), "c").key).not.toBe(shown.key);
  expect(shownAfter(shown, document, undefined).key).not.toBe(shown.key);
});

test("other changes of the document keep the form", () => {
  const shown = shownAfter(NONE, document, "b");
  const moved = shownAfter(shown, without("a"), "b");
  expect(moved.key).toBe(shown.key);
  expect(shownAfter(moved, without("c"), "b").key).toBe(shown.key);
});
