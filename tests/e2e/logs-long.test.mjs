// A long log: its end is loaded first, all of it is searched, and any part can be reached.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { atEnd, button, found, openLog, pressed, rows, scrolled, status } from "./support/log.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";
import { long } from "./support/written.mjs";

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  const run = await start(api, { document: long });
  await ended(api, run);
  return { run };
});

const log = (options) => openLog(site, site.there.run, options);
const step = (number) => `step ${String(number).padStart(6, "0")}`;
/** The number of loaded lines. */
async function loaded(page) {
  const text = await page.locator(".log-status").innerText();
  return Number(/[\d,]+/.exec(text)[0].replaceAll(",", ""));
}

test("the end is loaded first, and what comes before when scrolling up", async () => {
  const page = await log();
  await status(page, /^last [\d,]+ lines, \d\.\d MiB of 4\.6 MiB · ended$/);
  await rows(page).filter({ hasText: step(24_000) }).waitFor();
  await eventually(() => atEnd(page));
  const before = await loaded(page);
  await page.locator(".log-box").evaluate((box) => { box.scrollTop = 0; });
  await eventually(async () => assert.ok((await loaded(page)) > before));
  // The line that was the first one stays in sight.
  await rows(page).filter({ hasText: step(24_000 - before + 1) }).waitFor();
  assert.ok((await scrolled(page)).top > 1000);

  await page.getByRole("button", { name: "Go to start" }).click();
  await status(page, /^first [\d,]+ lines, \d\.\d MiB of 4\.6 MiB$/);
  const first = rows(page).filter({ hasText: step(1) });
  await first.waitFor();
  assert.equal((await first.locator(".log-number").innerText()).trim(), "1");
  assert.equal(await pressed(page, "Follow"), "false");
  const some = await loaded(page);
  await page.locator(".log-box").evaluate((box) => { box.scrollTop = box.scrollHeight; });
  await eventually(async () => assert.ok((await loaded(page)) > some, "more is loaded at its end, too"));
  await button(page, "Follow").click();
  await status(page, /^last .* · ended$/);
  await eventually(() => atEnd(page));
  flawless(page);
});

test("lines that are not loaded are found and shown, and the end is one button away", async () => {
  const page = await log();
  await status(page, /^last /);
  await page.keyboard.press("/");
  await page.keyboard.type("step 000005");
  await found(page, "1 match");
  const listed = page.locator(".log-match");
  assert.match(await listed.innerText(), /^5\s+step 000005 x+$/);
  assert.equal(await listed.locator("mark").innerText(), "step 000005");
  await page.keyboard.press("Enter");
  await found(page, "1 of 1");
  const current = page.locator(".log-current");
  await current.filter({ hasText: step(5) }).waitFor();
  assert.equal((await current.locator(".log-number").innerText()).trim(), "5");
  assert.equal(await pressed(page, "Follow"), "false");
  await status(page, /^first [\d,]+ of 24,001 lines$/);

  // All matches, in both directions, from the end of the log.
  await button(page, "Follow").click();
  await status(page, /^last [\d,]+ of 24,001 lines · ended$/);
  await eventually(() => atEnd(page));
  await page.getByRole("searchbox").fill("step 00000");
  await found(page, "9 matches");
  await page.keyboard.press("Enter");
  await found(page, "1 of 9");
  await current.filter({ hasText: step(1) }).waitFor();
  await page.keyboard.press("Shift+Enter");
  await found(page, "9 of 9");
  await current.filter({ hasText: step(9) }).waitFor();
  await page.keyboard.press("F3");
  await found(page, "1 of 9");
  await listed.nth(3).click();
  await found(page, "4 of 9");
  await current.filter({ hasText: step(4) }).waitFor();
  flawless(page);
});

test("a search with very many matches says how far it went, and goes on", async () => {
  const page = await log();
  await status(page, /^last /);
  await page.getByRole("searchbox").fill("step");
  await found(page, /^[\d,]+ of at least [\d,]+$/);
  const matches = async () => Number((await page.locator(".log-found").innerText()).split(" ").at(-1).replaceAll(",", ""));
  const before = await matches();
  assert.ok(before > 1000);
  await page.locator(".log-results", { hasText: /Searched \d+ KiB of 4\.6 MiB\./ }).waitFor();
  await page.getByRole("button", { name: "Search further" }).click();
  await eventually(async () => assert.equal(await matches(), before + 1000));
  assert.ok((await page.locator(".log-match").count()) <= 500);
  await page.getByRole("button", { name: "Earlier matches" }).click();
  await page.getByRole("button", { name: "Later matches" }).waitFor();
  flawless(page);
});

test("the first error is found wherever it is, in the chosen stream", async () => {
  const page = await log();
  await status(page, /^last /);
  await page.locator(".log-box").focus();
  await page.keyboard.press("e");
  await found(page, "1 of 1");
  await page.locator(".log-current", { hasText: "ValueError: no data in shard 7" }).waitFor();
  // Between the lines of the other stream that were written before and after it.
  for (const number of [12_000, 12_001]) await rows(page).filter({ hasText: step(number) }).waitFor();
  await page.locator("#log-choice [name=stream]").selectOption("stdout");
  await page.waitForURL(/stream=stdout/);
  await status(page, /^last /);
  await button(page, "First error").click();
  await found(page, "no line looks like an error");
  flawless(page);
});

test("the toolbar and the matches are usable on a narrow screen, in both languages", async () => {
  for (const [lang, theme, words] of [["en", "dark", "1 match"], ["zh", "light", "1 个匹配"]]) {
    const page = await log({ size: "narrow", theme, lang });
    await page.getByRole("searchbox").fill("step 000005");
    await found(page, words);
    await page.locator(".log-match").click();
    await page.locator(".log-current", { hasText: step(5) }).waitFor();
    assert.deepEqual(await look(page, lang, { accessible: lang === "en" }), []);
    for (const control of await page.locator(".log-bar").locator("input, button, select, a").all()) {
      const { x, width } = await control.boundingBox();
      assert.ok(x >= 0 && x + width <= 390, await control.evaluate((one) => one.outerHTML));
    }
    flawless(page);
  }
});
