import { describe, expect, it } from "vitest";
import type { ItemId, PipelineDocument } from "../graph/document";
import { place } from "../graph/edit";
import { hit, REACH } from "./hit";
import { Scene } from "./scene";
import { matches } from "./shortcut";
import { next, nextTask, stepOf, walk } from "./walk";

const document: PipelineDocument = {
  apiVersion: "cubeloom/v1",
  kind: "Pipeline",
  name: "p",
  tasks: [
    { name: "pull", template: "transfer" },
    { name: "left", template: "python", needs: ["pull"] },
    { name: "right", template: "python", needs: ["pull"] },
    { name: "join", template: "python", needs: ["left", "right", "gone"] },
  ],
  canvas: {
    positions: { pull: [0, 100], left: [400, 0], right: [400, 200], join: [800, 100] },
    frames: { f1: { title: "Both", tasks: ["left", "right"] } },
    notes: { n1: { text: "look", at: [0, 400], size: [200, 100] } },
  },
};

function shown(one = document): Scene {
  const scene = new Scene();
  scene.show(one, new Map());
  return scene;
}

const at = (scene: Scene, x: number, y: number) => hit(scene, x, y, 1, true, REACH.mouse);

describe("what is at a point", () => {
  const scene = shown();

  it("is the port before the node, the node before the edge, the edge before the frame", () => {
    expect(at(scene, 224, 136)).toMatchObject({ kind: "port", side: "out" });
    expect(at(scene, 400, 36)).toMatchObject({ kind: "port", side: "in" });
    expect(at(scene, 500, 36)).toMatchObject({ kind: "task", id: "task:left" });
    expect(at(scene, 100, 420)).toMatchObject({ kind: "note", corner: false });
    expect(at(scene, 198, 498)).toMatchObject({ kind: "note", corner: true });
    expect(at(scene, 500, -30)).toMatchObject({ kind: "frame", id: "frame:f1" });
    expect(at(scene, 312, 86)).toMatchObject({ kind: "edge", id: "edge:pull>left" });
    expect(at(scene, 1500, 900)).toBeNull();
  });

  it("has no ports where nobody could see them", () => {
    expect(hit(scene, 224, 136, 0.2, false, REACH.mouse)).toMatchObject({ kind: "task" });
  });
});

describe("the scene", () => {
  it("leads an edge round the nodes between its ends, but for as long as somebody drags one of these", () => {
    const tasks = [...document.tasks, { name: "far", template: "python", needs: ["left"] }];
    const scene = shown({ ...document, tasks, canvas: { positions: { ...document.canvas?.positions, left: [400, 100], far: [1200, 100] } } });
    const edge = scene.edges.find(({ id }) => id === "edge:left>far") ?? expect.fail();
    expect(scene.line(edge)).toHaveLength(3);
    expect(hit(scene, 912, 136, 1, false, REACH.mouse)).toMatchObject({ kind: "task" });
    expect(hit(scene, 912, 92, 1, false, REACH.mouse)).toMatchObject({ kind: "edge", id: "edge:left>far" });
    scene.move(edge.to, 1240, 140);
    expect(scene.line(edge)).toHaveLength(1);
    scene.reset();
    const again = scene.edges.find(({ id }) => id === "edge:left>far") ?? expect.fail();
    expect(scene.line(again)).toHaveLength(3);
  });

  it("finds the ways of many edges in steps, and only those anew that something has changed near", () => {
    const rows = Array.from({ length: 400 }, (_, row) => ["a", "b", "c"].map((column) => ({ name: `${column}${row}`, template: "python", needs: column === "c" ? [`a${row}`, `b${row}`] : [] }))).flat();
    const positions = Object.fromEntries(rows.map(({ name }) => [name, [400 * "abc".indexOf(name.charAt(0)), 150 * Number(name.slice(1))] as const]));
    const many = { ...document, tasks: rows, canvas: { positions } };
    const scene = shown(many);
    const lines = () => scene.edges.filter((edge) => edge.from.name.startsWith("a")).map((edge) => scene.line(edge).length);
    expect(new Set(lines()), "plain at first").toEqual(new Set([1]));
    while (!scene.routes.done) scene.routes.step(100);
    expect(new Set(lines())).toEqual(new Set([3]));
    scene.show(place(many, { b7: [400, -500] }), new Map());
    expect(scene.routes.done).toBe(true);
    expect(lines().map((length, row) => (length === 1 ? row : null)).filter((row) => row !== null), "nothing is in its way any more").toEqual([7]);
  });

  it("leaves out edges to tasks that are not there", () => {
    expect(shown().edges.map(({ id }) => id)).toEqual(["edge:pull>left", "edge:pull>right", "edge:left>join", "edge:right>join"]);
  });

  it("puts a task without a place beside what it needs, where nothing lies", () => {
    const scene = shown({ ...document, tasks: [...document.tasks, { name: "late", template: "python", needs: ["pull"] }] });
    const late = scene.nodes.get("late");
    expect(late?.x).toBeGreaterThan(224);
    expect([...scene.nodes.values()].filter((node) => node !== late && Math.abs(node.x - (late?.x ?? 0)) < 224 && Math.abs(node.y - (late?.y ?? 0)) < 72)).toEqual([]);
    expect(Object.keys(scene.unwritten)).toEqual(["late"]);
  });

  it("asks for a layout when no task has a place", () => {
    const bare: PipelineDocument = { apiVersion: "cubeloom/v1", kind: "Pipeline", name: "p", tasks: document.tasks };
    expect(shown(bare).needsLayout).toBe(true);
    expect(shown().needsLayout).toBe(false);
  });

  it("follows a moved task with its edges and its frame, and goes back", () => {
    const scene = shown();
    const node = scene.nodes.get("left");
    const frame = scene.frames[0];
    if (!node || !frame) throw new Error("not shown");
    const [before, wide] = [scene.line(node.after[0] ?? scene.edges[0] ?? expect.fail()), frame.height];
    scene.move(node, 400, -300);
    scene.refreshFrames();
    expect(scene.line(node.after[0] ?? expect.fail())).not.toEqual(before);
    expect(frame.height).toBe(wide + 300);
    scene.reset();
    expect(scene.nodes.get("left")?.y).toBe(0);
  });

  it("shows a change of the document", () => {
    const scene = shown();
    scene.show(place(document, { pull: [0, 500] }), new Map());
    expect(scene.nodes.get("pull")?.y).toBe(500);
    expect(scene.grid.at(10, 510)?.name).toBe("pull");
  });
});

describe("walking", () => {
  const scene = shown();

  it("goes along the edges, and to what is nearest across", () => {
    expect(walk(scene, "task:left", stepOf("ArrowRight", "right"))).toBe("join");
    expect(walk(scene, "task:left", stepOf("ArrowLeft", "right"))).toBe("pull");
    expect(walk(scene, "task:left", stepOf("ArrowDown", "right"))).toBe("right");
    expect(walk(scene, "task:left", stepOf("ArrowUp", "right"))).toBeNull();
  });

  it("goes from a note or a frame to the nearest task that way", () => {
    expect(walk(scene, "note:n1", stepOf("ArrowUp", "right"))).toBe("pull");
    expect(walk(scene, "frame:f1", stepOf("ArrowLeft", "right"))).toBe("pull");
    expect(walk(scene, "note:gone", stepOf("ArrowUp", "right"))).toBeNull();
  });

  it("reads everything in order, frames and notes too, and ends", () => {
    const read: (ItemId | null)[] = [];
    for (let at = next(scene, null, 1); at !== null; at = next(scene, at, 1)) read.push(at);
    expect(read).toEqual(["task:pull", "note:n1", "frame:f1", "task:left", "task:right", "task:join"]);
    expect(next(scene, null, -1)).toBe("task:join");
    expect(next(scene, "frame:f1", -1)).toBe("note:n1");
  });

  it("aims at tasks only", () => {
    expect([nextTask(scene, null, 1), nextTask(scene, "pull", 1), nextTask(scene, "join", 1), nextTask(scene, null, -1)]).toEqual(["pull", "left", null, "join"]);
  });
});

describe("shortcuts", () => {
  const press = (key: string, held: { ctrlKey?: boolean; shiftKey?: boolean } = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held });

  it("tell Shift apart where there are letters, and not where a sign needs it", () => {
    expect(matches("Mod+z", press("z", { ctrlKey: true }))).toBe(true);
    expect(matches("Mod+z", press("Z", { ctrlKey: true, shiftKey: true }))).toBe(false);
    expect(matches("Mod+Shift+z", press("Z", { ctrlKey: true, shiftKey: true }))).toBe(true);
    expect(matches("f", press("F", { shiftKey: true }))).toBe(false);
    expect(matches("?", press("?", { shiftKey: true }))).toBe(true);
    expect(matches("+", press("+"))).toBe(true);
    expect(matches("(Mod+c)", press("c", { ctrlKey: true }))).toBe(false);
  });
});
