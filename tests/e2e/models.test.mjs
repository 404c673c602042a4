// The model registry: who may assign aliases, and doing so by keyboard.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { refused, told } from "./support/dialog.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(stage);

async function open(path, as) {
  const page = await site.open({ as });
  await page.goto(path);
  await settled(page);
  return page;
}

const row = (page, version) => page.locator(`#versions tr[data-version="${version}"]`);

test("an alias moves, by keyboard; one that cannot be is told at its field", async () => {
  const page = await open("/projects/default/models", "emil");
  await page.getByRole("link", { name: "counter", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/models/counter");
  await settled(page);
  await row(page, 2).getByRole("button", { name: "Set alias" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("2");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("an alias is lower-case letters", { exact: false }).waitFor();
  refused(page, 422);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("production");
  await page.keyboard.press("Enter");
  await told(page, "production now points to version 2");
  await row(page, 2).locator(".tag", { hasText: "production" }).waitFor();
  assert.equal(await row(page, 1).locator(".tag").count(), 0);

  // Only a version without an alias can be deleted.
  assert.equal(await row(page, 2).getByRole("button", { name: "Delete version 2" }).count(), 0);
  await row(page, 1).getByRole("button", { name: "Delete version 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await told(page, "Version 1 was deleted");
  assert.equal(await page.locator("#versions tbody tr").count(), 1);

  await page.getByRole("button", { name: "Describe" }).click();
  await page.keyboard.type("Counts what there is");
  await page.keyboard.press("Enter");
  await told(page, "The description was saved");
  await page.getByText("Counts what there is").waitFor();
  await row(page, 2).getByRole("button", { name: "Remove alias production" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  await told(page, "The alias production was removed");
  flawless(page);
  await page.context().close();
});

test("a version says where it comes from, and leads there", async () => {
  const page = await open("/projects/default/models/counter/versions/2", "vera");
  assert.equal(await page.getByRole("button", { name: "Set alias" }).count(), 0, "viewers only look");
  await page.getByText("rows.csv").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
  assert.match(download.suggestedFilename(), /^[a-z-]+-\d+\.tar\.gz$/);
  await page.getByRole("link", { name: /^models\/counter\// }).click();
  await page.getByText("weights.json").first().waitFor();
  await page.goto(`/runs/${site.there.second}?tab=outputs`);
  await settled(page);
  await page.getByRole("link", { name: "counter, version 2" }).click();
  await page.waitForURL("**/models/counter/versions/2");
  await page.getByRole("link", { name: site.there.second, exact: true }).click();
  await page.waitForURL(`**/runs/${site.there.second}`);
  flawless(page);
  await page.context().close();
});
