// The home page, live: running, pending and failed runs with reasons, and the user's hanging or resized
// tasks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const held = (name, gate) => `  - {name: ${name}, template: command, resources: {cpu: 100m, memory: 64Mi}, arguments: {command: [sh, -c, 'until test -e ${gate}; do sleep 0.1; done']}}\n`;

/** Two tasks, one at a time; at most one active run of the pipeline. */
const NARROW = (gate) => `apiVersion: cubeloom/v1
kind: Pipeline
name: narrow
parallelism: 1
max_active_runs: 1
tasks:
${held("one", gate)}${held("two", gate)}`;

/** Reports steps, and then stops reporting. */
const STUCK = `apiVersion: cubeloom/v1
kind: Pipeline
name: stuck
tasks:
  - name: train
    template: command
    resources: {cpu: 100m, memory: 64Mi}
    hang: {after: 2s}
    arguments:
      command:
        - sh
        - -c
        - |
          for step in 1 2 3 4 5 6 7; do echo '{"progress": {"step": '$step', "total": 9}}' >>$CUBELOOM_OUTPUTS; sleep 0.3; done
          sleep 600
`;

/** Requests far more than it needs: it gets less once some attempts have shown that. */
const GREEDY = `apiVersion: cubeloom/v1
kind: Pipeline
name: greedy
sizing: auto
tasks:
  - name: eat
    template: command
    resources: {cpu: 100m, memory: 1Gi}
    arguments: {command: [python3, -c, "import time; held = b'x' * (20 << 20); time.sleep(1.2)"]}
`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("emil"));
  await api("POST", "/projects/default/pipelines", { document: NARROW(server.path("gate")) });
  return { api };
});

test("a run that runs, a task that waits with its reason, a run that waits, one that failed with its cause: all by themselves", async () => {
  const { api } = site.there;
  const page = await site.open({ as: "emil" });
  await page.goto("/");
  await settled(page);
  await page.getByText("No runs yet").waitFor();
  await page.evaluate(() => { window.notReloaded = true; });
  const card = (name) => page.locator(`#home-${name}`);
  const count = (name, n) => card(name).locator(".count", { hasText: new RegExp(`^${n}$`) }).waitFor();

  const first = await start(api, { pipeline: "narrow" });
  await card("running").locator(`#run-${first}`).waitFor();
  await card("running").getByText("0 of 2 tasks").waitFor();
  const waits = card("waits").locator(".home-row", { hasText: "two" });
  await waits.getByText(/parallel/i).waitFor();
  const second = await start(api, { pipeline: "narrow" });
  await card("waits").getByText("Starts when an earlier run of this pipeline ends.").waitFor();
  await count("running", 1);
  await count("waits", 2);

  const broken = await start(api, { document: "apiVersion: cubeloom/v1\nkind: Pipeline\nname: breaks\ntasks: [{name: bad, template: command, resources: {cpu: 100m, memory: 64Mi}, arguments: {command: [sh, -c, 'exit 3']}}]\n" });
  const failed = card("failed").locator(`#run-${broken}`);
  await failed.getByText("bad").waitFor();
  await failed.locator(".home-reason", { hasText: "exit code 3" }).waitFor();
  assert.deepEqual(await look(page, "en"), []);

  site.server.write("gate", "");
  for (const run of [first, second]) await card("ended").locator(`#run-${run}`).waitFor();
  await page.getByText("Nothing is running.").waitFor();
  await page.getByText("Nothing is pending.").waitFor();
  await count("failed", 1);
  assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");
  await failed.getByRole("link").click();
  await page.waitForURL(`**/runs/${broken}`);
  flawless(page);
  await page.context().close();
});

test("what of one's own hangs or was sized anew stands first, with its sentence, and of others' nothing", async () => {
  const { api } = site.there;
  const page = await site.open({ as: "emil" });
  const stuck = await start(api, { document: STUCK });
  await api("POST", "/projects/default/pipelines", { document: GREEDY });
  for (let n = 0; n < 4; n += 1) await ended(api, await start(api, { pipeline: "greedy" }));
  const viewer = await site.open({ as: "vera", lang: "zh", theme: "dark", size: "narrow" });
  await page.goto("/");
  const notices = page.locator("#home-notices");
  const hangs = notices.locator(".home-row", { hasText: "train" });
  // The page refreshes every 15 seconds.
  await hangs.getByText(/^rank 0 has reported no step for/i).waitFor();
  await notices.locator(".home-row", { hasText: "eat" }).getByText(/^memory .* instead of .*: peaks? of /i).waitFor();
  await notices.locator(".count", { hasText: /^2$/ }).waitFor();
  await settled(page);
  assert.deepEqual(await look(page, "en"), []);
  await notices.getByRole("link", { name: /eat/ }).press("Enter");
  await page.waitForURL("**/projects/default/pipelines/greedy/tasks/eat/sizing");
  await page.goto("/");
  await hangs.getByRole("link").press("Enter");
  await page.waitForURL(`**/runs/${stuck}/tasks/train`);

  await viewer.goto("/");
  await settled(viewer);
  await viewer.locator(`#run-${stuck}`).waitFor();
  assert.equal(await viewer.locator("#home-notices").count(), 0, "they are emil's");
  for (const [lang, theme, size] of [["zh", "dark", "narrow"], ["en", "light", "wide"]]) {
    const seen = await site.open({ as: "emil", lang, theme, size });
    await seen.goto("/");
    await seen.locator("#home-notices").waitFor();
    await settled(seen);
    assert.deepEqual(await look(seen, lang), []);
    if (process.env["PICTURES"]) await seen.screenshot({ path: `${process.env["PICTURES"]}/home-${lang}-${theme}-${size}.png` });
    await seen.context().close();
  }
  await api("POST", `/runs/${stuck}/cancel`);
  await ended(api, stuck);
  await page.goto("/");
  await notices.locator(".count", { hasText: /^1$/ }).waitFor();
  flawless(page);
  await page.context().close();
  await viewer.context().close();
});

test("a task of many instances is one line with how many wait, and a run that only waits is not among those that run", async () => {
  const { api } = site.there;
  const one = (name, cpu, rest) =>
    `apiVersion: cubeloom/v1\nkind: Pipeline\nname: ${name}\ntasks: [{name: work, template: command, timeout: 1h, resources: {cpu: ${cpu}, memory: 64Mi}${rest}, arguments: {command: [sleep, "600"]}}]\n`;
  const holder = await start(api, { document: one("holder", 7, "") });
  const page = await site.open({ as: "emil" });
  await page.goto("/");
  await page.locator(`#home-running #run-${holder}`).waitFor();
  const crowd = await start(api, { document: one("crowd", 4, ", for_each: {list: [1, 2, 3, 4, 5]}") });
  const row = page.locator("#home-waits .home-row", { hasText: "crowd" });
  await row.getByText("5 pending").waitFor();
  assert.equal(await row.count(), 1);
  await page.locator("#home-waits .count", { hasText: /^1$/ }).waitFor();
  assert.equal(await page.locator(`#home-running #run-${crowd}`).count(), 0);
  await settled(page);
  assert.deepEqual(await look(page, "en"), []);
  for (const run of [crowd, holder]) await api("POST", `/runs/${run}/cancel`);
  for (const run of [crowd, holder]) await ended(api, run);
  flawless(page);
  await page.context().close();
});
