import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { clipOf, clipText, duplicate, paste } from "./clipboard";
import { ancestors, closesCycle, forbiddenSources, forbiddenTargets } from "./cycle";
import { edgesOf, NODE, type ItemId, type PipelineDocument } from "./document";
import * as edit from "./edit";
import { equal } from "./equal";
import { History } from "./history";
import { layOut } from "./layout";
import { clipFrom } from "./paste-text";

// For a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const NAMES = ["a", "b-1", "c", "constructor", "e2", "f"];
const name = fc.constantFrom(...NAMES);
const point = fc.tuple(fc.integer({ min: -500, max: 500 }), fc.integer({ min: -500, max: 500 }));
const item = fc.oneof(name.map((one): ItemId => `task:${one}`), fc.constantFrom<ItemId>("frame:f1", "frame:f2", "note:n1"), fc.tuple(name, name).map(([from, to]): ItemId => `edge:${from}>${to}`));
const items = fc.uniqueArray(item, { maxLength: 4 });

const parameter = fc.constantFrom("day", "rounds");

type Change = (document: PipelineDocument) => PipelineDocument;

/** Any edit that the editor can make: names are free and edges close no cycle. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(name, point).map(([wanted, at]): Change => (d) => edit.addTask(d, { name: edit.freeName(new Set(d.tasks.map((one) => one.name)), wanted), template: "echo", arguments: { words: [`{{ tasks.${wanted}.outputs.x }}`] } }, at)),
  fc.tuple(name, name).map(([from, to]): Change => (d) => (closesCycle(d, from, to) || !d.tasks.some((one) => one.name === from) ? d : edit.connect(d, from, to))),
  fc.tuple(name, name).map(([from, to]): Change => (d) => edit.disconnect(d, from, to)),
  fc.tuple(name, name).map(([from, to]): Change => (d) => edit.renameTask(d, from, to)),
  fc.tuple(items, fc.boolean()).map(([ids, join]): Change => (d) => edit.removeItems(d, ids, { join })),
  fc.tuple(name, name, name, point).map(([one, from, to, at]): Change => (d) => edit.insertOnEdge(d, d.tasks.some((task) => task.name === one) ? one : { name: one, template: "echo" }, from, to, at)),
  fc.tuple(items, point).map(([ids, by]): Change => (d) => edit.move(d, ids, by)),
  fc.tuple(items, fc.constantFrom("left", "centre", "right", "top", "middle", "bottom" as const)).map(([ids, to]): Change => (d) => edit.align(d, ids, to)),
  fc.tuple(items, fc.constantFrom("horizontal", "vertical" as const)).map(([ids, along]): Change => (d) => edit.distribute(d, ids, along)),
  fc.tuple(fc.subarray(NAMES, { minLength: 1 }), fc.string()).map(([tasks, title]): Change => (d) => {
    const there = tasks.filter((one) => d.tasks.some((task) => task.name === one));
    return there.length > 0 ? edit.makeFrame(d, there, title).document : d;
  }),
  fc.tuple(fc.constantFrom("f1", "f2"), name).map(([id, task]): Change => (d) => (d.tasks.some((one) => one.name === task) ? edit.addToFrame(d, id, [task]) : d)),
  name.map((task): Change => (d) => edit.removeFromFrame(d, [task])),
  fc.constantFrom("f1", "f2").map((id): Change => (d) => edit.dissolveFrame(d, id)),
  fc.tuple(fc.constantFrom("f1", "f2"), fc.string()).map(([id, title]): Change => (d) => edit.renameFrame(d, id, title)),
  point.map((at): Change => (d) => edit.addNote(d, { text: "n", at, size: [100, 60] }).document),
  fc.tuple(fc.constantFrom("n1", "n2"), fc.oneof(fc.record({ text: fc.string() }), fc.record({ at: point }), fc.record({ size: point }))).map(([id, parts]): Change => (d) => edit.changeNote(d, id, parts)),
  fc.tuple(parameter, fc.option(fc.record({ type: fc.constantFrom("integer", "date"), default: fc.integer() }), { nil: undefined })).map(([one, value]): Change => (d) => edit.setPipelinePath(d, ["parameters", one], value)),
  fc.tuple(parameter, parameter).map(([from, to]): Change => (d) => edit.renameParameter(d, from, to)),
  fc.tuple(fc.constantFrom("right", "down" as const), fc.boolean()).map(([direction, again]): Change => (d) => laidOut(d, direction, again)),
  fc.tuple(name, fc.constantFrom("cpu", "memory"), fc.option(fc.integer(), { nil: undefined })).map(([task, key, value]): Change => (d) => edit.setPath(d, task, ["resources", key], value)),
  items.map((ids): Change => (d) => duplicate(d, ids).document),
);

const start: PipelineDocument = { apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p", tasks: [{ name: "a", template: "echo" }, { name: "c", template: "echo", needs: ["a"] }], canvas: { positions: { a: [0, 0], c: [300, 0] } } };
const changes = fc.array(change, { maxLength: 25 });
const anyDocument = changes.map((all) => all.reduce((document, one) => one(document), start));

/** As on the canvas: all positions are recomputed; with `again`, the layout respects the previous ones. */
function laidOut(document: PipelineDocument, direction: "right" | "down", again: boolean): PipelineDocument {
  const previous = again ? new Map(Object.entries(document.canvas?.positions ?? {})) : undefined;
  const { nodes } = layOut(document.tasks.map(({ name: id }) => ({ id, ...NODE })), edgesOf(document), direction, { previous });
  return edit.place(document, Object.fromEntries([...nodes].map(([id, { x, y }]) => [id, [Math.round(x), Math.round(y)] as const])));
}

/** Invariants of every edited document. */
function sound(document: PipelineDocument): void {
  const names = document.tasks.map((task) => task.name);
  expect(new Set(names).size).toBe(names.length);
  for (const one of names) expect(ancestors(document, one).has(one)).toBe(false);
  for (const task of document.tasks) {
    expect(task.needs?.every((need) => names.includes(need)) ?? true).toBe(true);
    expect(task.needs?.length).not.toBe(0);
    expect(new Set(task.needs).size).toBe(task.needs?.length ?? 0);
  }
  expect(Object.keys(document.canvas?.positions ?? {}).every((one) => names.includes(one))).toBe(true);
  const framed = Object.values(document.canvas?.frames ?? {}).flatMap((frame) => frame.tasks);
  expect(framed.every((one) => names.includes(one))).toBe(true);
  expect(new Set(framed).size).toBe(framed.length);
  for (const frame of Object.values(document.canvas?.frames ?? {})) expect(frame.tasks.length).toBeGreaterThan(0);
}

test("any edits leave a sound document", () => {
  fc.assert(fc.property(anyDocument, sound), { numRuns: 100 });
});

test("any edits and undos return to the start, and redone to the end", () => {
  fc.assert(fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: change }, { weight: 1, arbitrary: fc.constantFrom("undo", "redo") }), { maxLength: 30 }), (steps) => {
    let history = History.of(start);
    for (const step of steps) history = step === "undo" ? history.undo() : step === "redo" ? history.redo() : history.push((step)(history.present), "x");
    while (history.redoLabel !== null) history = history.redo();
    const end = history.present;
    while (history.undoLabel !== null) history = history.undo();
    expect(history.present).toBe(start);
    while (history.redoLabel !== null) history = history.redo();
    expect(history.present).toBe(end);
  }));
});

test("a change that changes nothing gives the document itself, and so is no step", () => {
  fc.assert(fc.property(anyDocument, change, (document, one) => {
    const next = one(document);
    if (equal(next, document)) expect(next).toBe(document);
  }));
});

test("copy and paste make no cycle and no name twice, in this document and in another", () => {
  fc.assert(fc.property(anyDocument, anyDocument, items, point, (document, other, ids, at) => {
    const clip = clipFrom(clipText(clipOf(document, ids)));
    if (!clip) return;
    for (const into of [document, other]) {
      const pasted = paste(into, clip, { at });
      sound(pasted.document);
      expect(pasted.document.tasks.length).toBe(into.tasks.length + clip.tasks.length);
      expect(pasted.document.tasks.slice(0, into.tasks.length)).toEqual(into.tasks);
      expect(edgesOf(pasted.document).length).toBeGreaterThanOrEqual(edgesOf(into).length);
    }
  }), { numRuns: 100 });
});

test("pasted text with a cycle of its own loses it", () => {
  const clip = clipFrom("- {name: a, template: x, needs: [b]}\n- {name: b, template: x, needs: [c, gone]}\n- {name: c, template: x, needs: [a]}\n- {name: c, template: y}\n");
  expect(clip?.tasks.length).toBe(4);
  const { document, dropped } = paste(start, clip ?? { tasks: [] }, { by: [0, 0] });
  sound(document);
  expect(document.tasks.map((task) => task.name)).toEqual(["a", "c", "a-2", "b", "c-2"]);
  expect(dropped).toContainEqual({ task: "b", need: "gone" });
});

test("what a drag may not end on is what would close a cycle", () => {
  fc.assert(fc.property(anyDocument, name, (document, from) => {
    const [targets, sources] = [forbiddenTargets(document, from), forbiddenSources(document, from)];
    for (const { name: other } of document.tasks) {
      expect(targets.has(other)).toBe(closesCycle(document, from, other));
      expect(sources.has(other)).toBe(closesCycle(document, other, from));
    }
  }));
});

test("a renamed task keeps its edges and its readers", () => {
  fc.assert(fc.property(anyDocument, name, (document, task) => {
    if (!document.tasks.some((one) => one.name === task)) return;
    const there = edit.renameTask(document, task, "new-name");
    expect(edgesOf(there).length).toBe(edgesOf(document).length);
    expect(JSON.stringify(there)).not.toContain(`tasks.${task}.outputs`);
    expect(edit.renameTask(there, "new-name", task)).toEqual(document);
  }));
});
