// The home page: what runs, what waits and why, what failed and by what, as it happens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { start } from "./support/stage.mjs";

const held = (name, gate) => `  - {name: ${name}, template: command, resources: {cpu: 100m, memory: 64Mi}, arguments: {command: [sh, -c, 'until test -e ${gate}; do sleep 0.1; done']}}\n`;

/** Two tasks of which only one may run at a time; of the pipeline one run may be active. */
const NARROW = (gate) => `apiVersion: cubeloom/v1
kind: Pipeline
name: narrow
parallelism: 1
max_active_runs: 1
tasks:
${held("one", gate)}${held("two", gate)}`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  const api = server.api(server.token("emil"));
  await api("POST", "/projects/default/pipelines", { document: NARROW(server.path("gate")) });
  return { api };
});

test("a run that runs, a task that waits with its reason, a run that waits, one that failed with its cause: all by themselves", async () => {
  const { api } = site.there;
  const page = await site.open({ as: "emil" });
  await page.goto("/");
  await settled(page);
  await page.getByText("Nothing has run yet").waitFor();
  await page.evaluate(() => { window.notReloaded = true; });
  const card = (name) => page.locator(`#home-${name}`);
  const count = (name, n) => card(name).locator(".count", { hasText: new RegExp(`^${n}$`) }).waitFor();

  const first = await start(api, { pipeline: "narrow" });
  await card("running").locator(`#run-${first}`).waitFor();
  await card("running").getByText("0 of 2 tasks").waitFor();
  const waits = card("waits").locator(".home-row", { hasText: "two" });
  await waits.getByText(/parallel/i).waitFor();
  const second = await start(api, { pipeline: "narrow" });
  await card("waits").getByText("It starts when an earlier run of this pipeline has ended.").waitFor();
  await count("running", 1);
  await count("waits", 2);

  const broken = await start(api, { document: "apiVersion: cubeloom/v1\nkind: Pipeline\nname: breaks\ntasks: [{name: bad, template: command, resources: {cpu: 100m, memory: 64Mi}, arguments: {command: [sh, -c, 'exit 3']}}]\n" });
  const failed = card("failed").locator(`#run-${broken}`);
  await failed.getByText("bad").waitFor();
  await failed.locator(".home-reason", { hasText: "exit code 3" }).waitFor();
  assert.deepEqual(await look(page, "en"), []);

  site.server.write("gate", "");
  for (const run of [first, second]) await card("ended").locator(`#run-${run}`).waitFor();
  await page.getByText("Nothing runs at the moment.").waitFor();
  await page.getByText("Nothing waits: all that can run has a place.").waitFor();
  await count("failed", 1);
  assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");
  await failed.getByRole("link").click();
  await page.waitForURL(`**/runs/${broken}`);
  flawless(page);
  await page.context().close();
});
