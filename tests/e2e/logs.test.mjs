// The log of a gang: all workers or one, searched, followed, wrapped, downloaded.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { flawless, look } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { atEnd, button, found, openLog, pressed, rows, scrolled, status } from "./support/log.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";
import { gang } from "./support/written.mjs";

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  return { api, run: await start(api, { document: gang(server.path("gate")) }) };
});

const log = (query = "") => openLog(site, site.there.run, { query });

test("while it is written: the end is followed, or the reader's place is kept", async () => {
  const [follows, stays] = [await log(), await log()];
  // Three workers, each with a long line, 300 lines and a warning.
  for (const page of [follows, stays]) {
    await page.goto(page.url());
    await status(page, /^906 lines · live/);
    await eventually(() => atEnd(page));
    assert.equal(await pressed(page, "Follow"), "true");
  }
  await button(stays, "Follow").click();
  await stays.locator(".log-box").hover();
  await stays.mouse.wheel(0, -2000);
  await eventually(async () => {
    const { top, most } = await scrolled(stays);
    assert.ok(most - top > 1000);
  });
  assert.equal(await pressed(stays, "Follow"), "false");
  const before = (await scrolled(stays)).top;

  site.server.write("gate", "");
  await ended(site.there.api, site.there.run);
  for (const page of [follows, stays]) await status(page, /^909 lines · ended/);
  await rows(follows).filter({ hasText: "the end of" }).first().waitFor();
  await eventually(() => atEnd(follows));
  assert.equal((await scrolled(stays)).top, before, "who reads is not moved");
  await button(stays, "Follow").click();
  await eventually(() => atEnd(stays));
  // Scrolling away from the end stops following.
  await follows.locator(".log-box").hover();
  await follows.mouse.wheel(0, -600);
  await eventually(async () => assert.equal(await pressed(follows, "Follow"), "false"));
  for (const page of [follows, stays]) {
    flawless(page);
    await page.context().close();
  }
});

test("one worker of three is chosen, and one stream", async () => {
  const page = await log();
  await status(page, /^909 lines/);
  const worker = page.locator("#log-choice [name=worker]");
  const names = await worker.locator("option").allTextContents();
  assert.equal(names.length, 4);
  assert.ok((await page.locator(".log-worker").count()) > 0, "with all of them, each line says whose it is");
  await worker.selectOption({ index: 2 });
  await page.waitForURL(new RegExp(`worker=${names[2]}`));
  await status(page, /^303 lines/);
  await rows(page).filter({ hasText: "the end of 1" }).waitFor();
  assert.equal(await rows(page).filter({ hasText: /of (worker )?[02]$/ }).count(), 0);
  assert.equal(await page.locator(".log-worker").count(), 0);
  await page.locator("#log-choice [name=stream]").selectOption("stderr");
  await status(page, /^1 line /);
  await rows(page).filter({ hasText: "a warning of 1" }).waitFor();
  assert.deepEqual(await look(page, "en"), []);
  flawless(page);
  await page.context().close();
});

test("words are found, forward and back, by buttons and by keys, and as an expression", async () => {
  const page = await log();
  await status(page, /^909 lines/);
  await page.keyboard.press("/");
  await page.keyboard.type("line 7 of");
  await found(page, "1 of 3");
  await page.locator(".log-current mark").waitFor();
  assert.equal(await pressed(page, "Follow"), "false");
  await page.keyboard.press("Enter");
  await found(page, "2 of 3");
  await button(page, "Next match").click();
  await found(page, "3 of 3");
  await button(page, "Next match").click();
  await found(page, "1 of 3");
  await button(page, "Previous match").click();
  await found(page, "3 of 3");
  await page.locator(".log-box").focus();
  await page.keyboard.press("p");
  await found(page, "2 of 3");
  await page.locator(".log-current mark", { hasText: "line 7 of" }).waitFor();

  // The matches are listed, with their workers and line numbers.
  const listed = page.locator(".log-match");
  assert.equal(await listed.count(), 3);
  assert.equal(await listed.nth(1).getAttribute("aria-current"), "true");
  await listed.filter({ hasText: "of worker 2" }).click();
  const current = page.locator(".log-current", { hasText: "line 7 of worker 2" });
  await current.waitFor();
  assert.equal((await current.locator(".log-number").innerText()).trim(), "9");
  assert.match(await listed.filter({ hasText: "of worker 2" }).innerText(), /^worker-2\s+9\s+line 7 of worker 2$/);
  await button(page, "List matches").click();
  await listed.first().waitFor({ state: "hidden" });
  await button(page, "List matches").click();
  await listed.first().waitFor();

  const search = page.getByRole("searchbox");
  await search.fill("line 29[0-9] of worker 2$");
  await found(page, "no match");
  await button(page, "Regular expression").click();
  await found(page, "1 of 10");
  await search.fill("line 29[0-9");
  await found(page, "invalid regular expression");
  assert.equal(await search.getAttribute("aria-invalid"), "true");
  await search.press("Escape");
  await found(page, "");
  assert.equal(await search.inputValue(), "");
  await listed.first().waitFor({ state: "hidden" });
  // No line of this log looks like an error.
  await button(page, "First error").click();
  await found(page, "no line looks like an error");
  flawless(page);
  await page.context().close();
});

test("long lines are broken where somebody wants that, also the next time; times stand before them", async () => {
  const page = await log("&worker=");
  await status(page, /^909 lines/);
  const long = rows(page).filter({ hasText: "long..." }).first();
  const height = async () => (await long.boundingBox()).height;
  await page.locator(".log-box").focus();
  await button(page, "Follow").click();
  await page.locator(".log-box").evaluate((box) => { box.scrollTop = 0; });
  await long.waitFor();
  const before = await height();
  await button(page, "Wrap").click();
  await eventually(async () => assert.ok((await height()) > 2 * before, "it takes several lines"));
  await page.reload();
  await status(page, /^909 lines/);
  assert.equal(await pressed(page, "Wrap"), "true");
  await eventually(() => atEnd(page));

  assert.equal(await page.locator(".log-time").count(), 0);
  await page.getByLabel("Timestamps", { exact: true }).selectOption("clock");
  await eventually(async () => assert.match(await page.locator(".log-time").last().innerText(), /^\d\d:\d\d:\d\d/));
  await button(page, "Wrap").click();
  await page.getByLabel("Timestamps", { exact: true }).selectOption("none");
  flawless(page);
  await page.context().close();
});

test("the whole log is taken along, or one worker's", async () => {
  const page = await log();
  const take = async () => {
    const coming = page.waitForEvent("download");
    await page.locator(".log-bar").getByRole("link", { name: "Download" }).click();
    return readFileSync(await (await coming).path(), "utf8");
  };
  const whole = await take();
  for (const worker of [0, 1, 2]) assert.match(whole, new RegExp(`line 299 of worker ${worker}\n`));
  await page.locator("#log-choice [name=worker]").selectOption({ index: 1 });
  await status(page, /^303 lines/);
  const one = await take();
  assert.match(one, /line 299 of worker 0\n/);
  assert.doesNotMatch(one, /worker 1/);
  flawless(page);
  await page.context().close();
});
