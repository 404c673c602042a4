// The output files of a run, previewed on its page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";
import { files } from "./support/written.mjs";

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  const run = await start(api, { document: files });
  assert.equal(await ended(api, run), "succeeded");
  return { run };
});

const artifact = (page, name) => page.locator(".artifact", { has: page.locator("strong", { hasText: name }) });

async function preview(page, name) {
  await artifact(page, name).getByText("Preview").click();
  return artifact(page, name).locator(".artifact-body");
}

test("a picture is there, a table is a table, JSON and text can be read, a page runs nothing, each is taken along", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto(`/runs/${site.there.run}?tab=outputs`);
  await settled(page);
  const picture = artifact(page, "shades").locator("img");
  await picture.scrollIntoViewIfNeeded();
  await eventually(async () => assert.deepEqual(await picture.evaluate((one) => [one.complete, one.naturalWidth, one.naturalHeight]), [true, 64, 48]));

  const table = (await preview(page, "table")).locator("table");
  await eventually(async () => assert.deepEqual(await table.locator("th").allTextContents(), ["step", "loss"]));
  assert.deepEqual(await table.locator("td").allTextContents(), ["1", "0.5", "2", "0.25"]);
  await (await preview(page, "data")).locator("pre", { hasText: '"er"' }).waitFor();
  await (await preview(page, "notes")).locator("pre", { hasText: "<b>only text</b>" }).waitFor();

  const frame = (await preview(page, "page")).locator("iframe");
  await frame.waitFor();
  assert.equal(await frame.getAttribute("sandbox"), "");
  await frame.contentFrame().getByText("it runs nothing").waitFor();
  await eventually(async () => assert.ok(page.faults.some((fault) => fault.includes("Blocked script execution")), "the browser has refused to run it"));
  page.faults = page.faults.filter((fault) => !fault.includes("Blocked script execution"));
  assert.deepEqual(await look(page, "en"), []);

  const coming = page.waitForEvent("download");
  await artifact(page, "table").getByRole("link", { name: "Download" }).click();
  const file = await coming;
  assert.equal(file.suggestedFilename(), "table.csv");
  assert.equal(readFileSync(await file.path(), "utf8"), "step,loss\n1,0.5\n2,0.25\n");
  flawless(page);
  await page.context().close();
});
