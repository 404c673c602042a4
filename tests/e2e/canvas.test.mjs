// The canvas: every mouse gesture, and its keyboard equivalent.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look } from "./support/browser.mjs";
import { connect, dragTemplate, node, openEditor, ready } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { hand } from "./support/touch.mjs";

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: drawn
tasks:
  - {name: a, template: command, arguments: {command: ["true"]}}
  - {name: b, template: command, arguments: {command: ["true"]}, needs: [a]}
  - {name: c, template: command, arguments: {command: ["true"]}, needs: [b]}
  - {name: lone, template: command, arguments: {command: ["true"]}}
canvas:
  positions: {a: [0, 0], b: [400, 0], c: [800, 0], lone: [400, 240]}
`;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  await api("POST", "/projects/default/pipelines", { document: DOCUMENT });
  return { api };
});

const editor = (options) => openEditor(site, "ada", "/projects/default/pipelines/drawn/edit", options);
const middle = async (page, task) => {
  const { x, y, width, height } = await node(page, task).boundingBox();
  return { x: x + width / 2, y: y + height / 2 };
};
/** A task's dependencies, from its node's label. */
const needs = async (page, task) => /needs ([a-z0-9-]+(?:, [a-z0-9-]+)*?)(?:, \d+ problems|$)/.exec(await node(page, task).getAttribute("aria-label"))?.[1] ?? "";
const said = (page, words) => page.locator(".cv-room [role=status]", { hasText: words }).waitFor({ state: "attached" });
const selected = (page) => page.locator(".cv-task[data-selected]").evaluateAll((all) => all.map((one) => one.id.slice("task-".length)));
const tasks = (page) => page.locator(".cv-task").count();

async function drag(page, from, to, steps = 6) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps });
  await page.mouse.up();
}

test("with the mouse: move, undo, connect, no cycle, insert on an edge, box, delete", async () => {
  const page = await editor();
  const lone = await middle(page, "lone");
  await drag(page, lone, { x: lone.x + 3, y: lone.y + 150 });
  await eventually(async () => {
    const moved = await middle(page, "lone");
    assert.ok(moved.y > lone.y + 100, "it lies where it was dropped");
    assert.ok(Math.abs(moved.x - lone.x) < 1, "it stays in line with what is above");
  });
  await page.keyboard.press("Control+z");
  await eventually(async () => assert.deepEqual(await middle(page, "lone"), lone, "one step takes a drag back"));

  await connect(page, "a", "lone");
  await eventually(async () => assert.equal(await needs(page, "lone"), "a"));
  await connect(page, "c", "a");
  await said(page, "c and a would wait for each other");
  assert.equal(await needs(page, "a"), "");

  const [a, b] = [await middle(page, "a"), await middle(page, "b")];
  const room = await page.locator(".cv-stage").boundingBox();
  await dragTemplate(page, "python", (a.x + b.x) / 2 - room.x, a.y - room.y);
  await eventually(async () => assert.equal(await needs(page, "python"), "a"));
  await eventually(async () => assert.equal(await needs(page, "b"), "python"));

  // A dropped task is selected; a selection box would add to it.
  await eventually(async () => assert.deepEqual(await selected(page), ["python"]));
  await page.keyboard.press("Escape");
  await eventually(async () => assert.deepEqual(await selected(page), []));
  await page.keyboard.down("Shift");
  await drag(page, { x: b.x - 60, y: b.y - 120 }, { x: b.x + 1200, y: b.y + 60 });
  await page.keyboard.up("Shift");
  await eventually(async () => assert.deepEqual(await selected(page), ["b", "c"]));
  const before = await tasks(page);
  await page.keyboard.press("Delete");
  await eventually(async () => assert.equal(await tasks(page), before - 2));
  await page.keyboard.press("Control+z");
  await eventually(async () => assert.equal(await tasks(page), before));
  flawless(page);
});

test("while an edge is drawn, what it would close a cycle with is faint, says why, and cannot be aimed at", async () => {
  const page = await editor();
  assert.equal(await node(page, "a").locator(".cv-task-sub").innerText(), "1 CPU, 256Mi");
  const port = await node(page, "c").locator(".cv-port[data-side=out]").boundingBox();
  const [a, lone] = [await middle(page, "a"), await middle(page, "lone")];
  const marked = (mark) => page.locator(`.cv-task[${mark}]`).evaluateAll((all) => all.map((one) => one.id.slice("task-".length)).sort());
  await page.mouse.move(port.x + port.width / 2, port.y + port.height / 2);
  await page.mouse.down();
  await page.mouse.move(a.x, a.y, { steps: 6 });
  await eventually(async () => assert.deepEqual(await marked("data-faint"), ["a", "b", "c"]));
  await page.locator(".cv-why", { hasText: "c and a would wait for each other" }).waitFor();
  assert.deepEqual(await marked("data-aimed"), []);
  await page.mouse.move(lone.x, lone.y, { steps: 6 });
  await eventually(async () => assert.deepEqual(await marked("data-aimed"), ["lone"]));
  await page.locator(".cv-why").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.mouse.up();
  await eventually(async () => assert.deepEqual(await marked("data-faint"), []));
  assert.equal(await needs(page, "lone"), "");
  flawless(page);
});

test("with the mouse: an edge that ends nowhere offers what to add; the menu; a double click adds", async () => {
  const page = await editor();
  const { x, y, width, height } = await node(page, "c").boundingBox();
  await drag(page, { x: x + width, y: y + height / 2 }, { x: x + width - 40, y: y + height + 160 });
  await page.getByRole("dialog").getByRole("combobox").fill("python");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await needs(page, "python"), "c"));

  const b = await middle(page, "b");
  await page.mouse.click(b.x, b.y, { button: "right" });
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await node(page, "b-2").waitFor();
  await eventually(async () => assert.equal(await needs(page, "b-2"), "a"));

  await page.mouse.dblclick(b.x, b.y + 400);
  await page.getByRole("dialog").getByRole("combobox").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  flawless(page);
});

test("a template is found in the palette by its words; what is selected is put in line in one step", async () => {
  const page = await editor();
  const search = page.getByRole("searchbox", { name: "Search templates" });
  await search.fill("training pytorch");
  await page.locator("[data-template=python]").waitFor({ state: "detached" });
  await page.locator("[data-template=pytorch]").waitFor();
  await search.press("Enter");
  await node(page, "pytorch").waitFor();
  await search.fill("there is no such thing");
  await page.locator(".cv-palette").getByText("No results").waitFor();
  await page.keyboard.press("Escape");

  const [b, lone] = [await middle(page, "b"), await middle(page, "lone")];
  await page.mouse.click(b.x, b.y);
  await page.keyboard.down("Shift");
  await page.mouse.click(lone.x, lone.y);
  await page.keyboard.up("Shift");
  const bar = page.getByRole("toolbar", { name: "Selection" });
  await bar.getByRole("button", { name: "Align top" }).click();
  const level = async () => (await middle(page, "lone")).y - (await middle(page, "b")).y;
  await eventually(async () => assert.ok(Math.abs(await level()) < 1, "their tops are in line"));
  await page.keyboard.press("Control+z");
  await eventually(async () => assert.ok((await level()) > 20, "one step takes it back"));
  flawless(page);
});

test("with the keyboard alone: walk, connect, refuse, move, copy, frame, note, lay out, all commands", async () => {
  const page = await editor();
  await page.locator(".cv-stage").focus();
  await page.keyboard.press("Home");
  await said(page, /^a, Command/);
  await page.keyboard.press("ArrowRight");
  await said(page, /^b, Command/);
  await page.keyboard.press("Tab");
  await said(page, /^lone, Command/);

  // From lone to c; then from c to a, which is refused.
  await page.keyboard.press("c");
  await page.keyboard.press("ArrowRight");
  await said(page, "To c");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await needs(page, "c"), "b, lone"));
  await page.keyboard.press("End");
  await page.keyboard.press("c");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await said(page, /wait for each other/);
  assert.equal(await needs(page, "b"), "a");

  const place = () => node(page, "c").evaluate((one) => one.parentElement.style.top);
  await page.keyboard.press("Control+ArrowDown");
  await page.keyboard.press("Control+ArrowDown");
  await said(page, "At 800, 16");
  await eventually(async () => assert.equal(await place(), "16px"));
  await page.keyboard.press("Control+z");
  await eventually(async () => assert.equal(await place(), "0px", "moves in a row are one step"));

  await page.keyboard.press("Control+c");
  await page.keyboard.press("Control+v");
  await node(page, "c-2").waitFor();
  await eventually(async () => assert.equal(await needs(page, "c-2"), "b, lone"));
  await page.keyboard.press("Control+g");
  await page.getByRole("textbox", { name: "Title of the frame" }).fill("Copies");
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "Frame Copies around c-2" }).waitFor();
  await page.keyboard.press("Shift+N");
  await page.getByRole("textbox", { name: "Text of the note" }).fill("mind the gap");
  await page.keyboard.press("Escape");
  await page.getByRole("group", { name: "Note: mind the gap" }).waitFor();

  await page.keyboard.press("Shift+L");
  await said(page, "Laid out");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("top to bottom");
  assert.deepEqual(await look(page, "en"), []);
  await page.keyboard.press("Enter");
  await page.locator(".cv-stage[data-direction=down]").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await page.keyboard.press("Escape");

  await page.keyboard.press("Shift+F10");
  await page.getByRole("menu").waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await eventually(async () => assert.equal(await tasks(page), 0));
  await page.keyboard.press("Control+z");
  await eventually(async () => assert.equal(await tasks(page), 5));
  flawless(page);
});

test("what is typed right after a key that opens something arrives in its field, even before its code is there", async () => {
  const page = await site.open({ as: "ada" });
  let asked;
  const held = new Promise((resolve) => { asked = resolve; });
  let go;
  const later = new Promise((resolve) => { go = resolve; });
  await page.route("**/opened-*.js", async (route) => {
    asked();
    await later;
    await route.continue();
  });
  await page.goto("/projects/default/pipelines/drawn/edit");
  await ready(page);
  await held;
  await page.locator(".cv-stage").focus();
  await page.keyboard.press("/");
  await page.keyboard.type("pyt ff");
  await page.keyboard.press("Backspace");
  go();
  await page.getByRole("dialog").waitFor();
  await eventually(async () => assert.equal(await page.getByRole("combobox").inputValue(), "pyt f"));
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  for (const keys of ["/", "Control+k", "/", "Control+k"]) {
    await page.keyboard.press(keys);
    await page.keyboard.type("select");
    await eventually(async () => assert.equal(await page.getByRole("combobox").inputValue(), "select"));
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  assert.equal(await page.locator(".cv-task[data-selected]").count(), 0, "no key went to the canvas");
  flawless(page);
});

test("the canvas is fitted to its room again when half of it becomes text, unless somebody has moved the view", async () => {
  const page = await editor();
  const looks = page.locator(".ed-looks");
  const shown = () => page.locator(".cv-task").evaluateAll((nodes) => {
    const room = document.querySelector(".cv-stage").getBoundingClientRect();
    return nodes.filter((one) => one.getBoundingClientRect().right <= room.right && one.getBoundingClientRect().left >= room.left).length;
  });
  await eventually(async () => assert.equal(await shown(), 4));
  await looks.locator("[data-look=split]").click();
  await page.locator(".ed-text .cm-content").waitFor();
  const inSight = () => page.evaluate(() => {
    const room = document.querySelector(".cv-stage");
    const mark = document.querySelector(".cv-zoom").textContent;
    return { width: room.clientWidth, zoom: Number.parseInt(mark, 10) };
  });
  await eventually(async () => {
    const { width, zoom } = await inSight();
    assert.ok(1024 * zoom / 100 <= width, `the drawing fits: ${width} ${zoom}%`);
  });
  await looks.locator("[data-look=canvas]").click();
  await eventually(async () => assert.equal(await shown(), 4));

  const before = (await inSight()).zoom;
  await page.keyboard.press("Escape");
  const room = await page.locator(".cv-stage").boundingBox();
  await drag(page, { x: room.x + 300, y: room.y + room.height - 120 }, { x: room.x + 260, y: room.y + room.height - 120 });
  const moved = await middle(page, "a");
  await looks.locator("[data-look=split]").click();
  await page.locator(".ed-text .cm-content").waitFor();
  await eventually(async () => assert.ok((await inSight()).width < room.width - 200));
  assert.equal((await inSight()).zoom, before);
  assert.deepEqual(await middle(page, "a"), moved);
  flawless(page);
});

test("views glide where motion is welcome, end where they should, and give way to a hand", async () => {
  const page = await editor();
  await page.emulateMedia({ reducedMotion: "no-preference" });
  const zoom = async () => Number.parseInt(await page.locator(".cv-zoom").innerText(), 10);
  const seen = await page.evaluateHandle(() => {
    const found = new Set();
    const label = document.querySelector(".cv-zoom");
    new MutationObserver(() => found.add(label.textContent)).observe(label, { characterData: true, subtree: true, childList: true });
    return found;
  });
  await page.locator(".cv-stage").focus();
  await page.keyboard.press("0");
  await eventually(async () => assert.equal(await zoom(), 100));
  const before = await middle(page, "a");
  for (let press = 0; press < 3; press += 1) await page.keyboard.press("-");
  await page.keyboard.press("f");
  await page.keyboard.press("0");
  await eventually(async () => assert.equal(await zoom(), 100));
  assert.ok((await seen.evaluate((all) => all.size)) > 3, "it shows what lies between");
  await drag(page, { x: before.x, y: before.y + 200 }, { x: before.x + 5, y: before.y + 205 });
  await page.keyboard.press("f");
  await page.mouse.wheel(0, 400);
  await eventually(async () => assert.ok((await zoom()) < 100));
  flawless(page);
});

test("what is copied is the document's own text, and text can be pasted", async () => {
  const page = await editor();
  await page.locator(".cv-stage").focus();
  await page.keyboard.press("Home");
  const copied = await page.evaluate(() => {
    const data = new DataTransfer();
    document.activeElement.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true }));
    return data.getData("text/plain");
  });
  assert.match(copied, /^tasks:\n/);
  assert.match(copied, /name: a\b/);
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "- {name: from-text, template: command, needs: [nowhere]}");
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await node(page, "from-text").waitFor();
  await page.locator(".toast", { hasText: "nowhere does not exist here" }).waitFor();
  await eventually(async () => assert.equal(await needs(page, "from-text"), ""));
});

test("compared with a version, new tasks say so, and those that are gone are drawn where they lay, can be looked at, and are no part of anything", async () => {
  await site.there.api("POST", "/projects/default/pipelines", { document: DOCUMENT.replace("name: drawn", "name: past") });
  const { etag } = await site.there.api("GET", "/projects/default/pipelines/past");
  const now = DOCUMENT.replace("name: drawn", "name: past").replace(/ {2}- \{name: b.*\n/, "").replace("needs: [b]", "needs: [a]").replace("b: [400, 0], ", "")
    .replace("canvas:", "  - {name: fresh, template: command, arguments: {command: [date]}}\ncanvas:").replace("lone: [", "fresh: [0, 240], lone: [");
  await site.there.api("PUT", "/projects/default/pipelines/past", { document: now, message: "without b" }, { "if-match": etag });
  const page = await openEditor(site, "ada", "/projects/default/pipelines/past/edit");
  await page.getByRole("button", { name: "Versions" }).click();
  await page.locator(".ed-version-head", { hasText: "Version 1" }).click();
  const ghost = page.locator(".cv-ghost");
  await ghost.waitFor();
  assert.deepEqual(await page.locator(".cv-task[data-difference=added]").evaluateAll((all) => all.map((one) => one.id)), ["task-fresh"]);
  await node(page, "fresh").locator(".cv-mark", { hasText: "added" }).waitFor();
  assert.match(await ghost.innerText(), /removed\s+b\s/);
  assert.notEqual(await page.locator(".cv-ghost-lines path").getAttribute("d"), "");
  await eventually(async () => {
    const [a, b, c] = [await middle(page, "a"), await ghost.boundingBox(), await middle(page, "c")];
    assert.ok(Math.abs(b.x + b.width / 2 - (a.x + c.x) / 2) < 2, "it lies between a and c");
  });

  await ghost.click();
  await page.locator(".ed-right [data-pointer='/tasks/1/name'] input").waitFor();
  assert.equal(await page.locator(".ed-right [data-pointer='/tasks/1/name'] input").inputValue(), "b");
  assert.equal(await page.locator(".ed-right [data-pointer='/tasks/1/name'] input").getAttribute("readonly"), "");
  await eventually(async () => assert.equal(await ghost.getAttribute("aria-pressed"), "true"));
  await page.locator(".cv-stage").focus();
  await page.keyboard.press("Control+a");
  await eventually(async () => assert.equal(await page.locator(".cv-task[data-selected]").count(), 4));
  assert.equal(await ghost.getAttribute("aria-pressed"), "false");
  assert.deepEqual(await look(page, "en"), []);

  await page.getByRole("button", { name: "Stop comparing" }).click();
  await ghost.waitFor({ state: "detached" });
  assert.equal(await page.locator(".ed-saved[data-dirty]").count(), 0);
  flawless(page);
});

test("from far away one surface shows everything, and can be worked on", async () => {
  const page = await editor();
  await page.locator(".cv-stage").focus();
  for (let i = 0; i < 6; i += 1) await page.keyboard.press("-");
  await page.locator(".cv-stage[data-detail=far]").waitFor();
  await eventually(async () => assert.equal(await tasks(page), 0));
  await page.keyboard.press("Home");
  await said(page, /^a, Command/);
  await page.keyboard.press("0");
  await page.locator(".cv-stage[data-detail=near]").waitFor();
  await node(page, "a").waitFor();
  await eventually(async () => assert.equal(await page.locator(".cv-task[data-selected]").count(), 1));
});

test("on a small screen by touch: a template from its sheet, a tap to select", async () => {
  const page = await editor({ size: "narrow" });
  await page.getByRole("button", { name: "Show templates" }).click();
  await page.locator("[data-template=python]").click();
  await said(page, /^Added python/);
  while ((await page.locator(".cv-stage").getAttribute("data-detail")) === "far") await page.getByRole("button", { name: "Zoom in" }).click();
  await node(page, "python").waitFor();
  assert.deepEqual(await look(page, "en"), []);
});

test("with fingers: one pans, two zoom, a tap selects, what is selected is dragged", async () => {
  const page = await openEditor(site, "ada", "/projects/default/pipelines/drawn/edit", { touch: true });
  const fingers = await hand(page);
  const zoom = async () => Number.parseInt(await page.locator(".cv-zoom").innerText(), 10);
  const room = await page.locator(".cv-stage").boundingBox();
  const empty = { x: room.x + room.width / 2, y: room.y + room.height - 160 };

  const first = await middle(page, "a");
  await fingers.move([empty], [{ x: empty.x + 60, y: empty.y - 40 }]);
  await eventually(async () => {
    const now = await middle(page, "a");
    assert.ok(Math.abs(now.x - first.x - 60) < 8 && Math.abs(now.y - first.y + 40) < 8, `one finger moves the view: ${JSON.stringify([first, now])}`);
  });
  assert.equal(await page.locator(".cv-task[data-selected]").count(), 0);

  // A finger on an unselected node pans the view instead.
  const [lone, a] = [await middle(page, "lone"), await middle(page, "a")];
  await fingers.move([lone], [{ x: lone.x, y: lone.y + 48 }]);
  await eventually(async () => assert.ok(Math.abs((await middle(page, "a")).y - a.y - 48) < 8));

  await fingers.tap(await middle(page, "lone"));
  await page.locator("#task-lone[data-selected]").waitFor();
  const [from, still] = [await middle(page, "lone"), await middle(page, "a")];
  await fingers.move([from], [{ x: from.x + 40, y: from.y + 72 }]);
  await eventually(async () => {
    const now = await middle(page, "lone");
    assert.ok(now.y - from.y > 50, `it goes with the finger: ${JSON.stringify([from, now])}`);
    assert.deepEqual(await middle(page, "a"), still, "the view stays");
  });
  await page.locator(".ed-saved[data-dirty]").waitFor({ state: "attached" });

  const before = await zoom();
  const apart = (by) => [{ x: empty.x - by, y: empty.y }, { x: empty.x + by, y: empty.y }];
  await fingers.move(apart(120), apart(60));
  await eventually(async () => assert.ok((await zoom()) < before * 0.7, "two fingers zoom out"));
  const small = await zoom();
  await fingers.move(apart(60), apart(110));
  await eventually(async () => assert.ok((await zoom()) > small * 1.3, "and in"));
  flawless(page);
});

test("on the map a click goes there, and a drag goes along; the view chooser shows canvas, text, both", async () => {
  // So many that they are not all in sight at first.
  const names = Array.from({ length: 16 }, (_, at) => `t${at}`);
  const rows = names.map((name, at) => `  - {name: ${name}, template: command, arguments: {command: ["true"]}${at === 0 ? "" : `, needs: [t${at - 1}]`}}`);
  await site.there.api("POST", "/projects/default/pipelines", { document: `apiVersion: cubeloom/v1\nkind: Pipeline\nname: wide\ntasks:\n${rows.join("\n")}\n` });
  const page = await openEditor(site, "ada", "/projects/default/pipelines/wide/edit");
  const map = page.locator(".cv-map");
  await map.waitFor();
  await node(page, "t0").waitFor();
  const box = await map.boundingBox();
  const at = (part) => ({ x: box.x + box.width * part, y: box.y + box.height / 2 });
  const inSight = (task) => eventually(async () => {
    const [room, one] = [await page.locator(".cv-stage").boundingBox(), await node(page, task).boundingBox({ timeout: 1000 })];
    assert.ok(one && one.x >= room.x && one.x + one.width <= room.x + room.width, `${task} is in sight`);
  });
  await page.mouse.click(at(0.93).x, at(0.93).y);
  await inSight("t15");
  await page.mouse.move(at(0.9).x, at(0.9).y);
  await page.mouse.down();
  await page.mouse.move(at(0.08).x, at(0.08).y, { steps: 8 });
  await page.mouse.up();
  await inSight("t0");
  await page.mouse.move(at(0.9).x, at(0.9).y);
  await inSight("t0");

  const looks = page.getByRole("group", { name: "Editor view" });
  const place = await middle(page, "t0");
  await looks.getByRole("button", { name: "Text" }).click();
  await page.locator(".ed-text .cm-content").waitFor();
  await eventually(async () => assert.equal(await page.locator(".cv-stage").isVisible(), false));
  await eventually(async () => assert.equal(await looks.getByRole("button", { name: "Text" }).getAttribute("aria-pressed"), "true"));
  await looks.getByRole("button", { name: "Canvas" }).click();
  await eventually(async () => assert.deepEqual(await middle(page, "t0"), place, "the canvas shows what it showed"));
  await looks.getByRole("button", { name: "Both" }).click();
  await page.locator(".ed-text .cm-content").waitFor();
  await eventually(async () => assert.ok(await page.locator(".cv-stage").isVisible()));
  flawless(page);
});

test("who may only look changes nothing", async () => {
  site.server.user("vera", "--project", "default", "--role", "viewer");
  const page = await openEditor(site, "vera", "/projects/default/pipelines/drawn/edit");
  const a = await middle(page, "a");
  await drag(page, a, { x: a.x, y: a.y + 200 });
  await page.keyboard.press("Delete");
  assert.equal(await tasks(page), 4);
  assert.equal(await page.locator(".cv-palette").count(), 0);
});
