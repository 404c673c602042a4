// The canvas: inserting a node into an edge, zooming to the selection, undoing and cancelling layouts, frames
// and notes by keyboard, and cutting from one tab into another.

import assert from "node:assert/strict";
import { test } from "node:test";

import { collect, flawless } from "./support/browser.mjs";
import { node, openEditor, ready } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: drawn
tasks:
  - {name: a, template: command, arguments: {command: ["true"]}}
  - {name: b, template: command, arguments: {command: ["true"]}, needs: [a]}
  - {name: c, template: command, arguments: {command: ["true"]}, needs: [b]}
  - {name: lone, template: command, arguments: {command: ["true"]}}
canvas:
  positions: {a: [0, 160], b: [480, 0], c: [960, 320], lone: [480, 480]}
`;
const OTHER = DOCUMENT.replace("name: drawn", "name: other").replace(/ {2}- \{name: (b|c|lone).*\n/g, "").replace(/\{a: .*/, "{a: [0, 0]}").replaceAll("name: a,", "name: z,").replace("{a: [", "{z: [");
const MARKED = DOCUMENT.replace("name: drawn", "name: marked")
  + "  frames: {f1: {title: Both, tasks: [a, b]}}\n  notes: {n1: {text: look here, at: [0, 480], size: [200, 96]}}\n";
const BARE = DOCUMENT.replace("name: drawn", "name: bare").replace(/canvas:[^]*/, "");

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  const api = server.api(server.token("emil"));
  for (const document of [DOCUMENT, OTHER, MARKED, BARE]) await api("POST", "/projects/default/pipelines", { document });
});

const editor = (name = "drawn") => openEditor(site, "emil", `/projects/default/pipelines/${name}/edit`);
const needs = async (page, task) => /needs ([a-z0-9-]+(?:, [a-z0-9-]+)*?)(?:, \d+ problems|$)/.exec(await node(page, task).getAttribute("aria-label"))?.[1] ?? "";
const said = (page, words) => page.locator(".cv-room [role=status]", { hasText: words }).waitFor({ state: "attached" });
const middle = async (page, task) => {
  const { x, y, width, height } = await node(page, task).boundingBox();
  return { x: x + width / 2, y: y + height / 2 };
};
/** The tasks' positions in the drawing, independent of the view. */
const places = (page) => page.locator(".cv-task").evaluateAll((all) => Object.fromEntries(all.map((one) => [one.id, `${one.parentElement.style.left} ${one.parentElement.style.top}`])));

test("a node without edges that is dragged onto one comes between its ends, in one step", async () => {
  const page = await editor();
  const [a, b, lone] = [await middle(page, "a"), await middle(page, "b"), await middle(page, "lone")];
  const before = await places(page);
  const on = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  await page.mouse.move(lone.x, lone.y);
  await page.mouse.down();
  await page.mouse.move(on.x + 4, on.y + 30, { steps: 4 });
  await page.mouse.move(on.x, on.y, { steps: 4 });
  await page.mouse.up();
  await eventually(async () => assert.equal(await needs(page, "lone"), "a"));
  await eventually(async () => assert.equal(await needs(page, "b"), "lone"));
  await page.keyboard.press("Control+z");
  await eventually(async () => assert.deepEqual([await needs(page, "lone"), await needs(page, "b")], ["", "a"]));
  await eventually(async () => assert.deepEqual(await places(page), before, "it lies where it lay"));

  // A node with edges is only moved: its position may be intended.
  const c = await middle(page, "c");
  await page.mouse.move(c.x, c.y);
  await page.mouse.down();
  await page.mouse.move(on.x, on.y, { steps: 6 });
  await page.mouse.up();
  await eventually(async () => assert.notEqual((await places(page))["task-c"], before["task-c"]));
  assert.deepEqual([await needs(page, "b"), await needs(page, "c")], ["a", "b"]);
  flawless(page);
  await page.context().close();
});

test("what is selected is looked at closely, and everything again", async () => {
  const page = await editor();
  const zoom = async () => Number.parseInt(await page.locator(".cv-zoom").innerText(), 10);
  const room = await page.locator(".cv-stage").boundingBox();
  const before = await zoom();
  await page.locator(".cv-stage").focus();
  await page.keyboard.press("Shift+F");
  assert.equal(await zoom(), before, "with nothing selected there is nothing to go to");
  await page.keyboard.press("End");
  await said(page, /^c, Command|^lone, Command/);
  await page.keyboard.press("Shift+F");
  const chosen = (await page.locator(".cv-task[data-selected]").getAttribute("id")).slice("task-".length);
  await eventually(async () => {
    const at = await middle(page, chosen);
    assert.ok(Math.abs(at.x - room.x - room.width / 2) < 24 && Math.abs(at.y - room.y - room.height / 2) < 24, `it is in the middle: ${JSON.stringify([at, room])}`);
  });
  assert.ok((await zoom()) > before);
  await page.keyboard.press("f");
  await eventually(async () => assert.equal(await zoom(), before));
  flawless(page);
  await page.context().close();
});

test("a layout is taken back in one step, and done again", async () => {
  const page = await editor();
  await page.locator(".cv-stage").focus();
  const before = await places(page);
  await page.keyboard.press("Shift+L");
  await said(page, "Laid out");
  await eventually(async () => assert.notDeepEqual(await places(page), before));
  const after = await places(page);
  for (const [keys, wanted] of [["Control+z", before], ["Control+Shift+z", after], ["Control+z", before], ["Control+y", after]]) {
    await page.keyboard.press(keys);
    await eventually(async () => assert.deepEqual(await places(page), wanted, keys));
  }
  await page.keyboard.press("Control+z");
  await eventually(async () => assert.equal(await page.locator(".ed-saved[data-dirty]").count(), 0, "nothing is left to save"));
  flawless(page);
  await page.context().close();
});

test("a layout that is being made is cancelled: with Escape or its button, also the first one", async () => {
  const page = await site.open({ as: "emil" });
  // The worker never gets its script, so no layout finishes.
  await page.context().route("**/layout-worker-*.js", () => undefined);
  await page.goto("/projects/default/pipelines/drawn/edit");
  await ready(page);
  const before = await places(page);
  const busy = page.locator(".cv-busy", { hasText: "Laying out" });
  for (const cancel of [() => page.keyboard.press("Escape"), () => busy.getByRole("button", { name: "Cancel" }).click()]) {
    await page.locator(".cv-stage").focus();
    await page.keyboard.press("Shift+L");
    await busy.waitFor();
    await cancel();
    await busy.waitFor({ state: "detached" });
    await said(page, "cancelled");
    assert.deepEqual(await places(page), before);
    assert.ok(await page.locator(".ed-steps button").first().isDisabled(), "there is no step to take back");
    await page.waitForFunction(() => document.activeElement?.matches(".cv-stage"));
  }

  // Tasks without positions are shown, too.
  await page.goto("/projects/default/pipelines/bare/edit");
  await ready(page);
  await busy.waitFor();
  assert.equal(await page.locator(".cv-task").count(), 0);
  await page.locator(".cv-stage").focus();
  await page.keyboard.press("Escape");
  await eventually(async () => assert.equal(new Set(Object.values(await places(page))).size, 4, "each has a place of its own"));
  assert.equal(await page.locator(".ed-saved[data-dirty]").count(), 0);
  flawless(page);
  await page.context().close();
});

test("frames and notes are reached by the keyboard, written, moved and taken away", async () => {
  const page = await editor("marked");
  const note = page.locator("#note-n1");
  await page.locator(".cv-stage").focus();
  const toNote = async () => {
    await page.keyboard.press("Home");
    await said(page, /^Frame Both around a, b$/);
    await page.keyboard.press("Tab");
    await said(page, /^a, Command/);
    await page.keyboard.press("Tab");
    await said(page, /^Note: /);
  };
  await toNote();
  await page.keyboard.press("Control+ArrowRight");
  await said(page, "At 8, 480");
  await page.keyboard.press("Escape");
  await eventually(async () => assert.equal(await page.locator("[data-selected]").count(), 0));
  await page.keyboard.press("Home");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await said(page, /^Note: look here$/);
  assert.equal(await page.locator(".cv-stage").getAttribute("aria-activedescendant"), "note-n1");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Text of the note" }).fill("seen");
  await page.keyboard.press("Escape");
  await page.getByRole("group", { name: "Note: seen" }).waitFor();
  await page.keyboard.press("Delete");
  await note.waitFor({ state: "detached" });

  await page.keyboard.press("Home");
  await said(page, /^Frame Both/);
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Title of the frame" }).fill("Two");
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "Frame Two around a, b" }).waitFor();
  const before = await places(page);
  await page.keyboard.press("Control+ArrowDown");
  await eventually(async () => {
    const now = await places(page);
    assert.deepEqual(["a", "b", "c"].map((task) => now[`task-${task}`] === before[`task-${task}`]), [false, false, true]);
  });
  await page.keyboard.press("Control+Shift+g");
  await page.locator(".cv-frame").waitFor({ state: "detached" });
  assert.equal(await page.locator(".cv-task").count(), 4);
  flawless(page);
  await page.context().close();
});

test("tasks are cut in one tab and pasted in another, into another pipeline", async () => {
  const page = await editor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const other = await page.context().newPage();
  collect(other);
  await other.goto("/projects/default/pipelines/other/edit");
  await ready(other);

  await page.bringToFront();
  await node(page, "b").click();
  await node(page, "c").click({ modifiers: ["Shift"] });
  await page.locator("#task-c[data-selected]").waitFor();
  await page.keyboard.press("Control+x");
  for (const task of ["b", "c"]) await node(page, task).waitFor({ state: "detached" });

  await other.bringToFront();
  await other.locator(".cv-stage").focus();
  await other.keyboard.press("Control+v");
  await node(other, "c").waitFor();
  await eventually(async () => assert.deepEqual([await needs(other, "b"), await needs(other, "c")], ["", "b"]));
  await other.locator(".toast", { hasText: "a does not exist here" }).waitFor();
  await eventually(async () => assert.equal(await other.locator(".cv-task[data-selected]").count(), 2, "what was pasted is selected"));

  await page.bringToFront();
  await page.keyboard.press("Control+z");
  await eventually(async () => assert.deepEqual([await needs(page, "b"), await needs(page, "c")], ["a", "b"]));
  for (const one of [page, other]) flawless(one);
  await page.context().close();
});
