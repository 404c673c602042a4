import fc from "fast-check";
import { expect, test } from "vitest";
import { difference, isEmptyDifference } from "./diff";
import type { PipelineDocument, Task } from "./document";
import { addTask, changeTask, connect, makeFrame, move, place, removeItems, renameTask, setPath, setPipelinePath } from "./edit";
import { merge } from "./merge";

const base: PipelineDocument = {
  apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p", description: "d",
  tasks: [
    { name: "pull", template: "transfer", arguments: { from: ["x"] } },
    { name: "train", template: "python", needs: ["pull"], arguments: { args: ["{{ tasks.pull.outputs.n }}"], rounds: 3 }, resources: { cpu: 1 } },
    { name: "tell", template: "command", needs: ["train"] },
  ],
  canvas: { positions: { pull: [0, 0], train: [300, 0], tell: [600, 0] } },
};

test("a difference names tasks and fields, and keeps places apart", () => {
  let after = setPath(base, "train", ["arguments", "rounds"], 4);
  after = renameTask(after, "pull", "fetch");
  after = addTask(removeItems(after, ["task:tell"]), { name: "look", template: "python" }, [0, 90]);
  after = setPipelinePath(after, ["description"], "e");
  const found = difference(base, after);
  expect(found).toMatchObject({ added: ["look"], removed: ["tell"], renamed: [{ from: "pull", to: "fetch" }], pipeline: [{ path: ["description"], before: "d", after: "e" }] });
  expect([...found.changed]).toEqual([["train", [{ path: ["arguments", "rounds"], before: 3, after: 4 }]]]);
  expect(found.canvas.map(({ path }) => path.join("."))).toEqual(["positions.tell", "positions.look"]);
  expect(isEmptyDifference(difference(base, move(base, ["task:pull"], [8, 0])), { canvas: false })).toBe(true);
  expect(isEmptyDifference(difference(base, move(base, ["task:pull"], [8, 0])))).toBe(false);
});

test("what both renamed and changed elsewhere comes together", () => {
  const mine = renameTask(setPath(base, "train", ["timeout"], "5m"), "pull", "fetch");
  const theirs = connect(addTask(setPath(base, "train", ["resources", "cpu"], 2), { name: "look", template: "python", needs: ["pull"] }), "pull", "tell");
  const { document, conflicts } = merge(base, mine, theirs);
  expect(conflicts).toEqual([]);
  expect(document.tasks).toEqual([
    { name: "fetch", template: "transfer", arguments: { from: ["x"] } },
    { name: "train", template: "python", needs: ["fetch"], arguments: { args: ["{{ tasks.fetch.outputs.n }}"], rounds: 3 }, resources: { cpu: 2 }, timeout: "5m" },
    { name: "tell", template: "command", needs: ["train", "fetch"] },
    { name: "look", template: "python", needs: ["fetch"] },
  ]);
  expect(document.canvas?.positions).toEqual({ fetch: [0, 0], train: [300, 0], tell: [600, 0] });
});

test("one name for two tasks is given to one of them", () => {
  const mine = renameTask(base, "pull", "fetch");
  const theirs = connect(addTask(base, { name: "fetch", template: "python" }), "fetch", "tell");
  const { document } = merge(base, mine, theirs);
  expect(document.tasks.map(({ name, needs }) => [name, needs])).toEqual([["fetch", undefined], ["train", ["fetch"]], ["tell", ["train", "fetch-2"]], ["fetch-2", undefined]]);
});

test("conflicts are told by task and field, and chosen one by one", () => {
  const mine = removeItems(setPath(setPath(base, "train", ["resources", "cpu"], 2), "train", ["arguments", "rounds"], 5), ["task:tell"]);
  const theirs = setPath(setPath(setPath(base, "train", ["resources", "cpu"], 4), "train", ["arguments", "rounds"], 6), "tell", ["timeout"], "1h");
  const { document, conflicts } = merge(base, mine, theirs);
  expect(conflicts.map(({ id, base: was, mine: my, theirs: their }) => [id, was, my, their])).toEqual([
    ["task:train/arguments/rounds", 3, 5, 6],
    ["task:train/resources/cpu", 1, 2, 4],
    ["task:tell", base.tasks[2], undefined, { ...base.tasks[2], timeout: "1h" }],
  ]);
  expect(document.tasks).toEqual(mine.tasks);
  const chosen = merge(base, mine, theirs, new Map([["task:train/resources/cpu", "theirs"], ["task:tell", "theirs"]]));
  expect(chosen.document.tasks[1]).toMatchObject({ resources: { cpu: 4 }, arguments: { rounds: 5 } });
  expect(chosen.document.tasks[2]).toEqual({ ...base.tasks[2], timeout: "1h" });
});

test("frames of both stay, and a task is in one of them", () => {
  const mine = makeFrame(base, ["pull", "train"], "mine").document;
  const theirs = makeFrame(base, ["train", "tell"], "theirs").document;
  expect(merge(base, mine, theirs).document.canvas?.frames).toEqual({ f1: { title: "mine", tasks: ["pull", "train"] }, f2: { title: "theirs", tasks: ["tell"] } });
});

const names = Array.from({ length: 8 }, (_, at) => `t${at}`);
const many: PipelineDocument = { ...base, tasks: names.map((name, at): Task => ({ name, template: `k${at}`, ...(at > 0 ? { needs: [`t${at - 1}`] } : {}), arguments: { x: 0 } })), canvas: {} };
const change = (own: readonly string[]) => fc.array(fc.record({ task: fc.constantFrom(...own), how: fc.constantFrom("field", "text", "place", "need", "inner"), value: fc.integer({ min: 1, max: 99 }) }), { maxLength: 5 });

function apply(document: PipelineDocument, { task, how, value }: { task: string; how: string; value: number }): PipelineDocument {
  if (how === "field") return setPath(document, task, ["arguments", "x"], value);
  if (how === "text") return changeTask(document, task, (one) => ({ ...one, description: `d${value}` }));
  if (how === "place") return place(document, { [task]: [value, value] });
  return how === "need" ? setPath(document, task, ["needs"], [`u${value}`]) : setPath(document, task, ["arguments", "y", `k${value}`], value);
}

test("changes of different tasks are all there, whoever made them", () => {
  fc.assert(fc.property(change(names.slice(0, 4)), change(names.slice(4)), (left, right) => {
    const [mine, theirs, both] = [left.reduce(apply, many), right.reduce(apply, many), [...left, ...right].reduce(apply, many)];
    const merged = merge(many, mine, theirs);
    expect(merged.conflicts).toEqual([]);
    expect(isEmptyDifference(difference(both, merged.document))).toBe(true);
  }));
});

test("a merge with one's own changes only gives them", () => {
  fc.assert(fc.property(change(names), (left) => {
    const mine = left.reduce(apply, many);
    expect(isEmptyDifference(difference(mine, merge(many, mine, many).document))).toBe(true);
    expect(isEmptyDifference(difference(mine, merge(many, many, mine).document))).toBe(true);
    expect(merge(many, mine, mine).conflicts).toEqual([]);
  }));
});
