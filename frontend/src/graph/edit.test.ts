import { expect, test } from "vitest";
import { clipOf, clipText, duplicate, paste } from "./clipboard";
import { closesCycle, forbiddenTargets } from "./cycle";
import { clipFrom } from "./paste-text";
import type { PipelineDocument, Task } from "./document";
import { addToFrame, align, distribute, frameBounds, insertOnEdge, makeFrame, move, removeItems, renameParameter, renameTask, setPath, setPipelinePath } from "./edit";

const task = (name: string, needs: string[] = [], more: Partial<Task> = {}): Task => ({ name, template: "echo", ...(needs.length > 0 ? { needs } : {}), ...more });

const chain: PipelineDocument = {
  apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p",
  tasks: [
    task("pull"),
    task("clean-up", ["pull"], { arguments: { words: ["{{ tasks.pull.outputs.rows }}", "tasks.pull.outputs.rows"] } }),
    task("train", ["clean-up"], { when: "tasks['clean-up'].outputs.n > 0", env: { N: "a{{ tasks . clean-up.outputs.n }}b{{ tasks.clean-up.outputs }}" } }),
  ],
  canvas: { positions: { pull: [0, 0], "clean-up": [300, 10], train: [700, 90] }, frames: { f1: { title: "A", tasks: ["pull", "clean-up"] } }, notes: { n1: { text: "hi", at: [0, 200], size: [100, 50] } } },
};

test("a task that goes takes its edges, its place and its part of a frame with it", () => {
  const left = removeItems(chain, ["task:clean-up"]);
  expect(left.tasks.map((one) => [one.name, one.needs])).toEqual([["pull", undefined], ["train", undefined]]);
  expect(left.canvas?.positions).toEqual({ pull: [0, 0], train: [700, 90] });
  expect(left.canvas?.frames?.["f1"]?.tasks).toEqual(["pull"]);
  expect(removeItems(chain, ["task:clean-up"], { join: true }).tasks[1]?.needs).toEqual(["pull"]);
  const bare = removeItems(chain, ["task:pull", "task:clean-up", "task:train", "note:n1"]);
  expect(bare.canvas).toBeUndefined();
});

test("edges, frames and notes go alone", () => {
  const left = removeItems(chain, ["edge:pull>clean-up", "frame:f1", "note:n1"]);
  expect(left.tasks.map((one) => one.needs)).toEqual([undefined, undefined, ["clean-up"]]);
  expect(left.canvas).toEqual({ positions: chain.canvas?.positions });
});

test("everything follows another name, and nothing else changes", () => {
  const renamed = renameTask(renameTask(chain, "clean-up", "clean"), "pull", "fetch-1");
  expect(renamed.tasks[1]).toEqual({ ...chain.tasks[1], name: "clean", needs: ["fetch-1"], arguments: { words: ["{{ tasks.fetch-1.outputs.rows }}", "tasks.pull.outputs.rows"] } });
  expect(renamed.tasks[2]).toMatchObject({ needs: ["clean"], when: "tasks['clean'].outputs.n > 0", env: { N: "a{{ tasks.clean.outputs.n }}b{{ tasks.clean.outputs }}" } });
  expect(renamed.canvas?.positions).toEqual({ "fetch-1": [0, 0], clean: [300, 10], train: [700, 90] });
  expect(renamed.canvas?.frames?.["f1"]?.tasks).toEqual(["fetch-1", "clean"]);
  expect(renameTask(chain, "pull", "train")).toBe(chain);
});

test("whoever reads a parameter follows its other name, and only they", () => {
  const reading: PipelineDocument = {
    ...chain,
    parameters: { date: { type: "string" }, rows: { type: "integer" } },
    tasks: [
      task("pull", [], { arguments: { words: ["{{ params.date }}-{{ params['date'] | format('%Y') }}", "params.date", "{{ 'params.date' }}"], date: "{{ params.dates }}" } }),
      task("train", ["pull"], { when: "params.date != '' and task.params.date", for_each: { from: "params.date" }, env: { D: "{{ params . date }}" } }),
    ],
  };
  const renamed = renameParameter(reading, "date", "day");
  expect(Object.keys(renamed.parameters ?? {})).toEqual(["day", "rows"]);
  expect(renamed.tasks[0]?.arguments).toEqual({ words: ["{{ params.day }}-{{ params['day'] | format('%Y') }}", "params.date", "{{ 'params.date' }}"], date: "{{ params.dates }}" });
  expect(renamed.tasks[1]).toMatchObject({ when: "params.day != '' and task.params.date", for_each: { from: "params.day" }, env: { D: "{{ params.day }}" } });
  expect(renameParameter(renamed, "day", "date")).toEqual({ ...reading, tasks: [reading.tasks[0], { ...reading.tasks[1], env: { D: "{{ params.date }}" } }] });
  expect(renameParameter(reading, "date", "rows")).toBe(reading);
  expect(renameParameter(reading, "gone", "there")).toBe(reading);
});

test("a task goes between two that are connected, and never closes a cycle", () => {
  const put = insertOnEdge(chain, task("look"), "pull", "clean-up", [150, 0]);
  expect(put.tasks.map((one) => [one.name, one.needs])).toEqual([["pull", undefined], ["clean-up", ["look"]], ["train", ["clean-up"]], ["look", ["pull"]]]);
  expect(put.canvas?.positions?.["look"]).toEqual([150, 0]);
  expect(insertOnEdge(chain, "train", "pull", "clean-up")).toBe(chain);
  expect(insertOnEdge(chain, task("look"), "pull", "train")).toBe(chain);
  expect([...forbiddenTargets(chain, "train")].sort()).toEqual(["clean-up", "pull", "train"]);
  expect(closesCycle(chain, "pull", "train")).toBe(false);
});

test("fields are set deep down, and empty mappings go", () => {
  const set = setPath(chain, "pull", ["resources", "gpu", "count"], 1);
  expect(set.tasks[0]?.["resources"]).toEqual({ gpu: { count: 1 } });
  expect(set.tasks[1]).toBe(chain.tasks[1]);
  expect(setPath(set, "pull", ["resources", "gpu", "count"], undefined).tasks[0]).toEqual(chain.tasks[0]);
  expect(setPath(chain, "pull", ["resources", "cpu"], undefined)).toBe(chain);
  expect(setPath(chain, "clean-up", ["arguments", "words", 0], undefined).tasks[1]?.arguments).toEqual({ words: ["tasks.pull.outputs.rows"] });
  expect(setPipelinePath(chain, ["parameters", "day", "type"], "date").parameters).toEqual({ day: { type: "date" } });
});

test("things are put on one line, and apart alike", () => {
  const all = ["task:pull", "task:clean-up", "task:train"] as const;
  const xs = (document: PipelineDocument) => Object.values(document.canvas?.positions ?? {}).map(([x]) => x);
  expect(xs(align(chain, all, "left"))).toEqual([0, 0, 0]);
  expect(xs(align(chain, all, "right"))).toEqual([700, 700, 700]);
  expect(xs(distribute(chain, all, "horizontal"))).toEqual([0, 350, 700]);
  expect(move(chain, ["frame:f1", "task:pull", "note:n1"], [8, 8]).canvas).toMatchObject({ positions: { pull: [8, 8], "clean-up": [308, 18] }, notes: { n1: { at: [8, 208] } } });
});

test("a task is in one frame at most", () => {
  const { document, id } = makeFrame(chain, ["clean-up", "train"], "B");
  expect(document.canvas?.frames).toEqual({ f1: { title: "A", tasks: ["pull"] }, f2: { title: "B", tasks: ["clean-up", "train"] } });
  expect(frameBounds(document, id)).toEqual({ x: 276, y: -38, width: 672, height: 224 });
  expect(addToFrame(document, "f2", ["pull"]).canvas?.frames).toEqual({ f2: { title: "B", tasks: ["clean-up", "train", "pull"] } });
});

test("a copy has fresh names, and what it names inside follows", () => {
  const { document, items, dropped } = duplicate(chain, ["task:clean-up", "task:train"]);
  expect(items).toEqual(["task:clean-up-2", "task:train-2"]);
  expect(document.tasks[3]).toMatchObject({ name: "clean-up-2", needs: ["pull"], arguments: { words: ["{{ tasks.pull.outputs.rows }}", "tasks.pull.outputs.rows"] } });
  expect(document.tasks[4]).toMatchObject({ name: "train-2", needs: ["clean-up-2"], when: "tasks['clean-up-2'].outputs.n > 0" });
  expect(dropped).toEqual([]);
  const elsewhere = paste({ ...chain, tasks: [], canvas: {} }, clipOf(chain, ["task:train", "note:n1"]), { at: [50, 60] });
  expect(elsewhere.dropped).toEqual([{ task: "train", need: "clean-up" }]);
  expect(elsewhere.document.canvas).toEqual({ positions: { train: [750, 60] }, notes: { n1: { text: "hi", at: [50, 170], size: [100, 50] } } });
});

test("what is copied reads like the document", () => {
  expect(clipText(clipOf(chain, ["frame:f1"]))).toBe(`tasks:
  - name: pull
    template: echo
  - name: clean-up
    template: echo
    needs: [pull]
    arguments:
      words: ["{{ tasks.pull.outputs.rows }}", tasks.pull.outputs.rows]
canvas:
  positions:
    pull: [0, 0]
    clean-up: [300, 10]
  frames:
    f1:
      title: A
      tasks: [pull, clean-up]
`);
});

test("what was copied, a document, a list of tasks and one task can be pasted; other text cannot", () => {
  const clip = clipOf(chain, ["frame:f1", "note:n1"]);
  expect(clipFrom(clipText(clip))).toEqual(clip);
  expect(clipFrom(JSON.stringify(chain))).toEqual({ tasks: chain.tasks, canvas: chain.canvas });
  expect(clipFrom("- name: a\n  template: echo\n")?.tasks).toEqual([task("a")]);
  expect(clipFrom("name: a\ntemplate: echo")?.tasks).toEqual([task("a")]);
  for (const other of ["hello", "a: [", "name: a", "- 1", "", "tasks: 1"]) expect(clipFrom(other)).toBeUndefined();
});
