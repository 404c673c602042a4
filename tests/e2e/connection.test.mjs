// A connection that is lost during a run: the page shows it, and recovers by itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { open, signIn } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { proxy } from "./support/proxy.mjs";
import { siteFor } from "./support/site.mjs";
import { count, ended, start } from "./support/stage.mjs";

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  await api("POST", "/projects/default/pipelines", { document: count(24), message: "first" });
  return { api };
});

const note = (page) => page.locator("#connection");
const succeeded = (page) => page.locator("#run-head").getByText(/succeeded/i).first();

test("the network is away for a while", async () => {
  const between = await proxy(site.server.url);
  const page = await open(site.browser, { url: between.url });
  await signIn(page, "ada");
  const run = await start(site.there.api, { pipeline: "count" });
  await page.goto(`/runs/${run}`);
  await page.evaluate(() => { window.notReloaded = true; });
  await page.locator("#run-head").getByText(/running/i).first().waitFor();
  between.cut();
  await note(page).waitFor({ state: "visible" });
  await ended(site.there.api, run);
  assert.equal(await succeeded(page).count(), 0, "what happened meanwhile is not known yet");
  between.mend();
  await note(page).waitFor({ state: "hidden", timeout: 30_000 });
  await succeeded(page).waitFor();
  assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");
  await page.context().close();
  between.close();
});

test("a script that the network cuts off comes when the page is loaded again, by itself and not for ever", async () => {
  const page = await site.open();
  await signIn(page, "ada");
  let cut = 0;
  await page.route("**/assets/*", (route) => {
    const one = /pipeline-editor/.test(route.request().url()) && cut === 0;
    cut += one ? 1 : 0;
    return one ? route.abort() : route.continue();
  });
  await page.goto("/projects/default/pipelines/count/edit");
  await page.locator(".cv-stage").waitFor();
  assert.equal(cut, 1);
  await page.unroute("**/assets/*");
  // If the script never loads, the page does not reload forever.
  let loads = 0;
  page.on("load", () => { loads += 1; });
  await page.route("**/assets/pipeline-editor*", (route) => route.abort());
  await page.goto("/projects/default/pipelines/count/edit");
  await eventually(async () => assert.equal(loads, 4));
  // The last load ends with an error; a page about to reload logs none.
  await eventually(() => assert.match(page.faults.join("\n"), /^script: /m));
  assert.equal(loads, 4);
  await page.context().close();
});

test("the server is killed and comes back", async () => {
  const page = await site.open();
  await signIn(page, "ada");
  // Long enough that it still runs when a busy machine shows the page.
  const run = await start(site.there.api, { pipeline: "count", parameters: { steps: 60 } });
  await page.goto(`/runs/${run}`);
  await page.evaluate(() => { window.notReloaded = true; });
  await page.locator("#run-head").getByText(/running/i).first().waitFor();
  await site.server.kill();
  await note(page).waitFor({ state: "visible" });
  await site.server.run();
  await note(page).waitFor({ state: "hidden", timeout: 30_000 });
  await succeeded(page).waitFor({ timeout: 60_000 });
  assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");
});
