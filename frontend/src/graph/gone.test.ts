import { expect, test } from "vitest";
import type { PipelineDocument, Task } from "./document";
import { goneSince } from "./gone";

const document = (tasks: Task[]): PipelineDocument => ({ apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p", tasks });
const task = (name: string, needs: string[] = [], word = name): Task => ({ name, template: "echo", needs, arguments: { word } });

test("what went is told with its edges, by the names that their other ends have now", () => {
  const before = document([task("pull"), task("clean", ["pull"]), task("train", ["clean"]), task("test", ["train"])]);
  const now = document([task("fetch", [], "pull"), task("train"), task("test", ["train"])]);
  const { tasks, edges } = goneSince(before, now);
  expect(tasks.map(({ name }) => name)).toEqual(["clean"]);
  expect(edges).toEqual([{ from: "fetch", to: "clean" }, { from: "clean", to: "train" }]);
  expect(goneSince(before, before)).toEqual({ tasks: [], edges: [] });
});
