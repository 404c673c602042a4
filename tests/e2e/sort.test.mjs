// Table headings sort: by mouse, by keyboard, and on a phone, where there are no columns.

import assert from "node:assert/strict";
import { test } from "node:test";

import { look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(async (server) => {
  const there = await stage(server);
  server.user("zoe");
  return there;
});

/** The first cell of each row, in the table's order. */
const rows = (page) => page.locator("main .table").first().locator("tbody th[scope=row]").allInnerTexts();

/** The `aria-sort` of the table's headings, by heading. */
const told = (page) => page.locator("main th[aria-sort]").evaluateAll((heads) => Object.fromEntries(heads.map((head) => [head.innerText.trim(), head.getAttribute("aria-sort")])));

test("people are sorted by a heading, and turned round by it", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/users");
  await settled(page);
  const byName = await rows(page);
  assert.deepEqual(await told(page), { User: "ascending", "Last seen": "none", Since: "none" });
  await page.getByRole("columnheader", { name: "User" }).getByRole("link").click();
  await page.waitForURL("**/users?sort=-name");
  await settled(page);
  assert.deepEqual(await rows(page), byName.toReversed());
  assert.equal((await told(page)).User, "descending");
  assert.deepEqual(await look(page, "en"), []);
});

test("a heading is reached and used by the keyboard", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/users");
  await settled(page);
  await page.locator("input[name=text]").focus();
  for (let i = 0; i < 10; i += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.matches("th[aria-sort] a.sort"))) break;
  }
  assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), "User");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/users?sort=-name");
  assert.equal((await told(page)).User, "descending");
});

for (const lang of ["en", "zh"]) {
  test(`on a phone the headings stay, in ${lang}`, async () => {
    const page = await site.open({ as: "ada", size: "narrow", lang });
    for (const path of ["/users", "/projects/default/pipelines", "/projects/default/runs", "/projects/default/storage"]) {
      await page.goto(path);
      await settled(page);
      const heading = page.locator("main th[aria-sort] a.sort").first();
      await heading.waitFor();
      const { width, height } = await heading.boundingBox();
      assert.ok(width >= 24 && height >= 24, `${path}: ${width} x ${height}`);
      assert.deepEqual(await look(page, lang, { accessible: lang === "en" }), [], path);
      const before = await page.locator("main th[aria-sort]").first().getAttribute("aria-sort");
      await heading.click();
      await page.waitForURL(/sort=/);
      await settled(page);
      assert.notEqual(await page.locator("main th[aria-sort]").first().getAttribute("aria-sort"), before, path);
    }
  });
}
