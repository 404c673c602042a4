// Ctrl+K on every page, and the editor's keys from the page's first moment.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { field, node, openEditor, ready } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

/** 300 tasks in rows of 20, without edges. */
const NAMES = Array.from({ length: 300 }, (_, n) => `t${n}`);
const MANY = `apiVersion: cubeloom/v1
kind: Pipeline
name: many
tasks:
${NAMES.map((name) => `  - {name: ${name}, template: command, arguments: {command: ["true"]}}`).join("\n")}
canvas:
  positions: {${NAMES.map((name, n) => `${name}: [${(n % 20) * 320}, ${Math.floor(n / 20) * 160}]`).join(", ")}}
`;

const site = siteFor(async (server) => {
  const there = await stage(server);
  server.user("sten");
  await there.api("POST", "/projects/default/pipelines", { document: MANY });
  return there;
});

const finder = (page) => page.getByRole("dialog", { name: "Search", exact: true });
const typed = (page) => finder(page).getByRole("combobox");
const gone = (page) => finder(page).waitFor({ state: "detached" });
const groups = (page) => finder(page).getByRole("group").evaluateAll((all) => all.map((one) => document.getElementById(one.getAttribute("aria-labelledby")).textContent));
const chosen = (page) => finder(page).locator("[aria-selected=true]");

/** Opens the finder by its key, and waits for its first results. */
async function find(page) {
  await page.keyboard.press("Control+k");
  await found(page);
}

/** Waits until the results for the typed text are there. */
const found = (page) => finder(page).locator("[role=listbox][aria-busy=false]").waitFor();

/** A name for `document.activeElement`. */
const focus = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.tagName);

test("from the home page to a pipeline, without a mouse and without waiting", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/");
  await settled(page);
  await find(page);
  const first = await groups(page);
  assert.deepEqual(first, ["Pages", "Pipelines", "Runs"]);
  assert.deepEqual(await look(page, "en", { dialog: true }), []);
  await page.keyboard.type("coun");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/projects/default/pipelines/count");
  await settled(page);

  // What is typed while the code is still on its way is not lost.
  await page.goto("/");
  let go;
  const later = new Promise((resolve) => { go = resolve; });
  await page.route("**/finder-*.js", async (route) => {
    await later;
    await route.continue();
  });
  await page.reload();
  await settled(page);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("britx");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  go();
  await page.waitForURL("**/projects/default/pipelines/brittle");
  flawless(page);
});

test("arrows choose, Escape closes and restores the focus, and a button opens it too", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/default/runs");
  await settled(page);
  const button = page.locator(".side [data-find]");
  assert.equal(await button.locator("kbd").innerText(), "Ctrl K");
  await button.click();
  await found(page);
  await page.keyboard.press("Escape");
  await gone(page);
  assert.ok(await button.evaluate((one) => one === document.activeElement), "the button has the focus again");

  // In a field, too; the field keeps what was typed in it.
  const filter = page.locator("main input[name=q]");
  await filter.focus();
  await page.keyboard.type("a");
  await find(page);
  await page.keyboard.press("Control+k");
  await gone(page);
  assert.ok(await filter.evaluate((one) => one === document.activeElement));
  assert.equal(await filter.inputValue(), "a");

  await find(page);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.equal(await chosen(page).count(), 1);
  assert.equal(await typed(page).getAttribute("aria-activedescendant"), await chosen(page).getAttribute("id"));
  assert.ok(await chosen(page).evaluate((one) => one === [...document.querySelectorAll("#finder-list [role=option]")].at(-1)), "above the first is the last");
  await typed(page).fill("there is no such thing");
  await finder(page).getByText("No results").waitFor();
  await page.keyboard.press("Enter");
  await typed(page).fill("quot");
  await found(page);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/quotas");
  flawless(page);
});

test("runs by the id that lists show, models, and on a run's page its tasks", async () => {
  const { first, second } = site.there;
  const page = await site.open({ as: "vera" });
  for (const id of [first, first.slice(-8)]) {
    await page.goto("/");
    await settled(page);
    await find(page);
    await typed(page).fill(id);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/runs/${first}`);
  }
  await page.goto(`/runs/${second}`);
  await settled(page);
  await find(page);
  await typed(page).fill("learn");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/runs/${second}/tasks/learn`);
  await settled(page);
  await find(page);
  await typed(page).fill("counter");
  await found(page);
  assert.deepEqual((await groups(page))[0], "Models");
  await finder(page).getByRole("option", { name: "counter" }).click();
  await page.waitForURL("**/projects/default/models/counter");
  flawless(page);
});

test("who sees no project finds pages only, and the page of sign-in has no search", async () => {
  const page = await site.open({ as: "sten" });
  await page.goto("/");
  await settled(page);
  await find(page);
  await typed(page).fill("count");
  await found(page);
  await eventually(async () => assert.deepEqual(await groups(page), ["Pages"]));
  // Its search terms have the word account.
  assert.deepEqual(await finder(page).getByRole("option").allInnerTexts(), ["Profile and tokens"]);
  flawless(page);

  const stranger = await site.open();
  await stranger.goto("/sign-in");
  await settled(stranger);
  await stranger.keyboard.press("Control+k");
  assert.equal(await stranger.getByRole("dialog").count(), 0);
});

for (const { lang, theme, size } of [{ lang: "en", theme: "dark", size: "wide" }, { lang: "zh", theme: "dark", size: "narrow" }, { lang: "zh", theme: "light", size: "wide" }]) {
  test(`its list, ${lang}, ${theme}, ${size}`, async () => {
    const page = await site.open({ as: "ada", lang, theme, size });
    await page.goto("/");
    await settled(page);
    const button = page.locator(".side [data-find]");
    const { width, height } = await button.boundingBox();
    if (size === "narrow") assert.ok(Math.abs(width - height) < 2, `an icon: ${width} x ${height}`);
    await button.click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("[role=listbox][aria-busy=false]").waitFor();
    assert.deepEqual(await look(page, lang, { dialog: true }), []);
    // The name of a page in English works in every language.
    await dialog.getByRole("combobox").fill("count");
    await dialog.locator("[role=listbox][aria-busy=false]").waitFor();
    assert.deepEqual(await look(page, lang, { dialog: true }), []);
    if (process.env["PICTURES"]) await page.screenshot({ path: `${process.env["PICTURES"]}/finder-${lang}-${theme}-${size}.png` });
    await dialog.getByRole("combobox").fill("clusters");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/clusters");
    flawless(page);
  });
}

test("one task among 300 is found, selected and shown; below are the results of the server", async () => {
  const page = await openEditor(site, "emil", "/projects/default/pipelines/many/edit");
  assert.equal(await focus(page), "BODY");
  const zoom = async () => Number.parseInt(await page.locator(".cv-zoom").innerText(), 10);
  const before = await zoom();
  await page.keyboard.press("f");
  await eventually(async () => assert.ok((await zoom()) < before, "everything is shown"));
  await find(page);
  assert.equal((await groups(page))[0], "All commands");
  await typed(page).fill("t150");
  assert.equal((await groups(page))[0], "Tasks");
  await page.keyboard.press("Enter");
  await gone(page);
  await page.locator("#task-t150[data-selected]").waitFor();
  await eventually(async () => {
    const [room, box] = [await page.locator(".cv-stage").boundingBox(), await node(page, "t150").boundingBox()];
    assert.ok(box.x > room.x && box.x + box.width < room.x + room.width && box.y > room.y && box.y + box.height < room.y + room.height);
    assert.equal(await zoom(), 100);
  });
  await page.waitForFunction(() => document.activeElement?.matches(".cv-stage"));

  await page.locator(".ed-bar [data-find]").click();
  await found(page);
  await typed(page).fill("duplicate");
  await found(page);
  await page.keyboard.press("Enter");
  await page.locator("#task-t150-2[data-selected]").waitFor();
  await page.keyboard.press("Control+z");
  await node(page, "t150-2").waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await typed(page).fill("count");
  await found(page);
  const seen = await groups(page);
  assert.ok(seen.includes("Pipelines") && seen.indexOf("Pipelines") > Math.max(seen.indexOf("Tasks"), seen.indexOf("All commands")), seen.join());
  await finder(page).getByRole("option", { name: "count default" }).first().click();
  await page.waitForURL("**/projects/default/pipelines/count");
  flawless(page);
});

test("keys work in a fresh editor, whose focus is nowhere; what is typed in a field stays there", async () => {
  const open = async () => {
    const page = await openEditor(site, "emil", "/projects/default/new-pipeline/canvas");
    await page.getByText("press / to add one by name").waitFor();
    assert.equal(await focus(page), "BODY");
    return page;
  };
  const page = await open();
  await page.keyboard.press("/");
  await page.keyboard.type("python");
  await page.keyboard.press("Enter");
  await node(page, "python").waitFor();
  // Now the canvas has the focus.
  await page.keyboard.press("Control+d");
  await node(page, "python-2").waitFor();

  const other = await open();
  await other.keyboard.press("l");
  await other.locator(".cv-why", { hasText: "Select one task." }).waitFor();
  const third = await open();
  await third.keyboard.press("?");
  await third.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await third.keyboard.press("Escape");
  await third.getByRole("dialog").waitFor({ state: "detached" });
  await third.locator(".ed-looks [data-look=canvas]").focus();
  await third.keyboard.press("/");
  await third.getByRole("dialog").getByRole("combobox").waitFor();
  await third.keyboard.press("Escape");
  await third.getByRole("dialog").waitFor({ state: "detached" });

  const fourth = await open();
  const description = field(fourth, "/description").getByRole("textbox").first();
  await description.focus();
  await fourth.keyboard.type("/f?lnN");
  assert.equal(await description.inputValue(), "/f?lnN");
  assert.equal(await fourth.getByRole("dialog").count(), 0);
  await fourth.locator(".ed-looks [data-look=text]").click();
  await fourth.locator(".ed-text .cm-content").waitFor();
  await fourth.locator(".ed-looks [data-look=text]").focus();
  await fourth.keyboard.press("/");
  assert.equal(await fourth.getByRole("dialog").count(), 0, "the canvas is hidden");
  for (const one of [page, other, third, fourth]) flawless(one);
});
