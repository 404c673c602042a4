// From an empty server to a run comparison, as its first user.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { PASSWORD } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { count, ended } from "./support/stage.mjs";

// The only test file in full Chromium, which users have.
const site = siteFor(undefined, undefined, "full");

test("the first administrator makes an account, runs a pipeline, watches it, reads its log and compares it", async () => {
  const page = await site.open();
  const link = site.server.says().match(/https?:\/\/\S+\/welcome\?token=[\w-]+/)?.[0];
  assert.ok(link, site.server.says());
  await page.goto(link);
  await settled(page);
  await page.locator("[name=name]").fill("ada");
  await page.locator("[name=password]").fill(PASSWORD);
  await page.locator("main form button.primary").first().click();
  await page.waitForURL((url) => url.pathname === "/" || url.pathname === "/sign-in");
  if (new URL(page.url()).pathname === "/sign-in") {
    await settled(page);
    await page.locator("[name=name]").fill("ada");
    await page.locator("[name=password]").fill(PASSWORD);
    await page.locator("main form button.primary").first().click();
    await page.waitForURL((url) => url.pathname === "/");
  }

  const api = site.server.api(site.server.token("ada"));
  await api("POST", "/projects/default/pipelines", { document: count(16), message: "first" });
  const before = (await api("POST", "/projects/default/runs", { pipeline: "count", parameters: { steps: 2 } })).body.run.id;
  await ended(api, before);

  await page.goto("/projects/default/pipelines");
  await page.locator("main").getByRole("link", { name: /count/i }).first().click();
  await page.waitForURL(/\/pipelines\/count/);
  await settled(page);
  await page.getByRole("button", { name: /^(run|start)/i }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await dialog.getByRole("button", { name: /^(run|start)/i }).click();
  await page.waitForURL(/\/runs\/[0-9a-z]{26}/);
  const run = new URL(page.url()).pathname.split("/")[2];

  // The page updates live, without a reload.
  await page.evaluate(() => { window.notReloaded = true; });
  await page.locator("#run-head [data-state=running], #run-head .state-running, #run-head .state.running").first().waitFor();
  await page.goto(`/runs/${run}?tab=logs&task=learn`);
  await page.getByText(/step 3 of 16/).first().waitFor();
  await page.getByText(/step 12 of 16/).first().waitFor();
  await page.goto(`/runs/${run}?tab=table`);
  await page.evaluate(() => { window.notReloaded = true; });
  await page.locator("#run-head").getByText(/succeeded/i).first().waitFor({ timeout: 30_000 });
  assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");

  await page.goto(`/runs/${run}?tab=metrics`);
  await settled(page);
  await page.locator("main").getByText("loss").filter({ visible: true }).first().waitFor();
  await page.goto(`/runs/${run}`);
  await page.getByRole("link", { name: /compare/i }).click();
  await page.waitForURL(/compare\?with=/);
  await settled(page);
  await eventually(async () => assert.match(await page.locator("main").innerText(), /steps/, "the parameter that differs is shown"));
  flawless(page);
});
