// The usage of a task's workers over time, with their limits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled, SIZES } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { until } from "./support/server.mjs";
import { ended, start } from "./support/stage.mjs";

/** Writes to disk and uses CPU and memory until it is stopped; the task beside it ends at once. */
const BUSY = `apiVersion: cubeloom/v1
kind: Pipeline
name: busy
tasks:
  - name: work
    template: command
    resources: {cpu: 100m, cpu_limit: 100m, memory: 256Mi}
    arguments:
      command:
        - sh
        - -c
        - |
          x=$(head -c 30000000 /dev/zero | tr '\\0' x)
          y=$(head -c 1000000 /dev/zero | tr '\\0' y)
          while :; do printf %s "$y" >written; done
  - name: brief
    template: command
    arguments: {command: ["true"]}
`;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  await api("POST", "/projects/default/pipelines", { document: BUSY });
  return { api, run: await start(api, { pipeline: "busy" }) };
});

const values = async (plot) => (await plot.getAttribute("aria-label")).replace(/^[^.]*\. /, "");

test("what a task uses is drawn while it runs, beside what it may use", async () => {
  const { api, run } = site.there;
  const page = await site.open({ as: "vera" });
  await page.goto(`/runs/${run}#task/work`);
  const part = page.locator("#task-usage");
  await part.waitFor();
  // With the keyboard alone.
  await part.locator("summary").focus();
  await page.keyboard.press("Enter");
  const memory = part.getByRole("group", { name: /^Memory, GiB\./ });
  await memory.waitFor();
  // The first samples may be from before its memory is allocated.
  await until("the memory of its text", async () => /^worker-0: 0\.0[23]\d*; limit: 0\.25$/.test(await values(memory)));
  const state = async () => (await api("GET", `/runs/${run}`)).body.state;
  const points = () => memory.evaluate((box) => box.querySelectorAll(".plot-legend button").length);
  assert.equal(await points(), 2, "the worker, and its limit, which is what it requested");
  assert.equal(await state(), "running", "it was drawn while it ran");
  const usage = async () => (await api("GET", `/runs/${run}/tasks/work/usage`)).body;
  const line = (view, name) => view.workers[0].lines.find((one) => one.name === name);
  const before = await usage();
  await until("more to be known", async () => line(await usage(), "memory").points.length > line(before, "memory").points.length + 2);
  // On a busy machine it may take a while until its limit throttles it, rather than other processes.
  await until("it to want more than it may have", async () => line(await usage(), "throttled").peak > 0);
  await api("POST", `/runs/${run}/cancel`);
  await ended(api, run);
  const after = await usage();
  assert.ok(before.live && !after.live);
  assert.ok(line(after, "cpu").peak > 0.01 && line(after, "cpu").peak < 0.5, "it had a tenth of a core");
  // In bytes per second. It writes all the time: writes before the first sample are in none.
  assert.ok(line(after, "disk_written").peak > 1e5, "it writes a megabyte again and again");
  assert.deepEqual(after.missing, ["network"], "waiting for storage is told by its group, or else by the machine");
  assert.match(await part.locator("[data-usage-note]").innerText(), /^Not available here: network$/);
  await page.locator("[data-usage-note]", { hasText: "network" }).waitFor();
  flawless(page);
  await page.context().close();
});

test("while what measures a task is away, what was drawn stays, and that is said above it", async () => {
  const { run } = site.there;
  const page = await site.open({ as: "vera" });
  const away = { type: "urn:cubeloom:problem:unavailable", title: "Not available now", status: 503, detail: "Prometheus is unreachable: it is away" };
  let is = "there";
  await page.route("**/tasks/work/usage?*", async (route) => {
    if (is === "away") return route.fulfill({ status: 503, contentType: "application/problem+json", json: away });
    const response = await route.fetch();
    // The run is still live.
    return route.fulfill({ response, json: { ...(await response.json()), live: true, missing: [] } });
  });
  await page.goto(`/runs/${run}/tasks/work`);
  const part = page.locator("#task-usage");
  await part.locator("summary").click();
  await part.locator(".plot").nth(2).waitFor();
  const note = part.locator("[data-usage-note]");
  await note.waitFor({ state: "hidden" });
  const plots = await part.locator(".plot").count();
  is = "away";
  await note.getByText(away.detail).waitFor();
  assert.equal(await part.locator(".plot").count(), plots);
  is = "there";
  await note.waitFor({ state: "hidden" });
  assert.equal(await part.locator(".plot").count(), plots);
  await page.context().close();
});

test("what is opened before the page has started is read when it has", async () => {
  const { run } = site.there;
  const page = await site.open({ as: "vera" });
  let open;
  const opened = new Promise((resolve) => { open = resolve; });
  await page.route("**/assets/*.js", async (route) => {
    await opened;
    await route.continue();
  });
  await page.goto(`/runs/${run}/tasks/work`, { waitUntil: "commit" });
  await page.locator("#task-usage summary").click();
  open();
  await page.locator("#task-usage .plot").first().waitFor();
  flawless(page);
  await page.context().close();
});

test("a task that was over at once says so", async () => {
  const { run } = site.there;
  const page = await site.open({ as: "vera" });
  await page.goto(`/runs/${run}/tasks/brief`);
  await page.locator("#task-usage summary").click();
  await page.locator("[data-usage-note]", { hasText: "less than a second" }).waitFor();
  assert.equal(await page.locator("#task-usage .plot").count(), 0);
  flawless(page);
  await page.context().close();
});

for (const size of Object.keys(SIZES)) {
  for (const [theme, lang] of [["light", "en"], ["dark", "zh"]]) {
    test(`it can be read on a ${size} ${theme} page in ${lang}`, async () => {
      const { run } = site.there;
      const page = await site.open({ as: "vera", size, theme, lang });
      await page.goto(`/runs/${run}/tasks/work`);
      await page.locator("#task-usage summary").click();
      await page.locator("#task-usage .plot").nth(2).waitFor();
      await settled(page);
      assert.deepEqual(await look(page, lang), []);
      await page.context().close();
    });
  }
}
