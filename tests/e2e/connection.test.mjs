// A connection that is lost in the middle of a run: the page says so, and recovers by itself.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, open, signIn } from "./support/browser.mjs";
import { proxy } from "./support/proxy.mjs";
import { Server } from "./support/server.mjs";
import { count, ended, start } from "./support/stage.mjs";

let server;
let browser;
let api;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  server.user("ada", "--admin");
  api = server.api(server.token("ada"));
  await api("POST", "/projects/default/pipelines", { document: count(24), message: "first" });
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const note = (page) => page.locator("#connection");
const succeeded = (page) => page.locator("#run-head").getByText(/succeeded/i).first();

test("the network is away for a while", async () => {
  const between = await proxy(server.url);
  const page = await open(browser, { url: between.url });
  await signIn(page, "ada");
  const run = await start(api, { pipeline: "count" });
  await page.goto(`/runs/${run}`);
  await page.evaluate(() => { window.notReloaded = true; });
  await page.locator("#run-head").getByText(/running/i).first().waitFor();
  between.cut();
  await note(page).waitFor({ state: "visible" });
  await ended(api, run);
  assert.equal(await succeeded(page).count(), 0, "what happened meanwhile is not known yet");
  between.mend();
  await note(page).waitFor({ state: "hidden", timeout: 30_000 });
  await succeeded(page).waitFor();
  assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");
  await page.context().close();
  between.close();
});

test("the server is killed and comes back", async () => {
  const page = await open(browser, server);
  await signIn(page, "ada");
  const run = await start(api, { pipeline: "count" });
  await page.goto(`/runs/${run}`);
  await page.evaluate(() => { window.notReloaded = true; });
  await page.locator("#run-head").getByText(/running/i).first().waitFor();
  await server.kill();
  await note(page).waitFor({ state: "visible" });
  await server.run();
  await note(page).waitFor({ state: "hidden", timeout: 30_000 });
  await succeeded(page).waitFor({ timeout: 60_000 });
  assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");
});
