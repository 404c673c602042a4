// The head of a run shows what needs attention, with the button for it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, LOOKS, look, settled } from "./support/browser.mjs";
import { dialog, press, told } from "./support/dialog.mjs";
import { until } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const small = "resources: {cpu: 100m, memory: 64Mi}";

const ASKS = `apiVersion: cubeloom/v1
kind: Pipeline
name: asks
tasks:
  - {name: train, template: command, ${small}, arguments: {command: ["true"]}}
  - {name: ask, template: approval, needs: [train], arguments: {message: "Publish the model?"}}
  - {name: publish, template: command, needs: [ask], ${small}, arguments: {command: ["true"]}}
`;

/** Three tasks; one item of the second fails unless it is fixed. */
const SWEEP = (line) => `apiVersion: cubeloom/v1
kind: Pipeline
name: sweep
tasks:
  - {name: prepare, template: command, ${small}, arguments: {command: ["true"]}}
  - name: spread
    template: command
    needs: [prepare]
    ${small}
    for_each: {list: [{depth: 3}, {depth: 5}]}
    arguments: {command: [sh, -c, '${line}', sh, "{{ item.depth }}"]}
  - {name: evaluate, template: command, needs: [spread], ${small}, arguments: {command: ["true"]}}
`;

const FAILS = SWEEP('if [ "$1" = 5 ]; then echo "cannot read 5" >&2; exit 3; fi');

const LONG = (name, cpu, items) => `apiVersion: cubeloom/v1
kind: Pipeline
name: ${name}
tasks:
  - {name: work, template: command, timeout: 1h, resources: {cpu: ${cpu}, memory: 64Mi}${items}, arguments: {command: [sleep, "600"]}}
`;

const state = async (run) => (await site.there.api("GET", `/runs/${run}`)).body;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  for (const document of [ASKS, FAILS, LONG("hold", 7, ""), LONG("waits", 4, ", for_each: {list: [1, 2, 3]}")]) {
    await api("POST", "/projects/default/pipelines", { document });
  }
  const failed = await start(api, { pipeline: "sweep" });
  await ended(api, failed);
  const { etag } = await api("GET", "/projects/default/pipelines/sweep");
  await api("PUT", "/projects/default/pipelines/sweep", { document: SWEEP("true"), message: "fixed" }, { "if-match": etag });
  const cancelled = await start(api, { pipeline: "waits" });
  await api("POST", `/runs/${cancelled}/cancel`);
  await ended(api, cancelled);
  return { api, failed, cancelled };
});

/** Runs `work` while a run is pending behind another; no other run of this server starts meanwhile. */
async function whilePending(work) {
  const { api } = site.there;
  const holder = await start(api, { pipeline: "hold" });
  await until("it to run", async () => (await api("GET", `/runs/${holder}/tasks/work`)).body.state === "running");
  const pending = await start(api, { pipeline: "waits" });
  try {
    await until("it to wait", async () => (await api("GET", `/runs/${pending}/tasks/work`)).body.wait?.rule === "capacity");
    await work(pending, holder);
  } finally {
    for (const run of [pending, holder]) await api("POST", `/runs/${run}/cancel`);
    for (const run of [pending, holder]) await ended(api, run);
  }
}

const head = (page, word) => page.locator("#run-head .state.pill", { hasText: word }).waitFor();
const needs = (page) => page.locator("#run-need");
const button = (page, name) => needs(page).getByRole("button", { name, exact: true });

async function open(path, options = {}) {
  const page = await site.open({ as: "emil", ...options });
  await page.goto(path);
  await settled(page);
  return page;
}

async function asking() {
  const run = await start(site.there.api, { pipeline: "asks" });
  await until("it to ask", async () => (await state(run)).phase === "approval");
  return run;
}

test("one click on a run's page approves", async () => {
  const run = await asking();
  const page = await open(`/runs/${run}`);
  await head(page, "Waiting for approval");
  await needs(page).getByText("Publish the model?").waitFor();
  await button(page, "Approve").click();
  await told(page, "ask is approved");
  await head(page, "Succeeded");
  await needs(page).locator("section").waitFor({ state: "detached" });
  flawless(page);
});

test("from the home page it is two clicks, and a comment is kept while the page refreshes itself", async () => {
  const run = await asking();
  const page = await open("/");
  await page.locator("#home-waits .home-row", { hasText: "Publish the model?" }).getByRole("link").click();
  await page.waitForURL(`**/runs/${run}`);
  await settled(page);
  const refreshed = page.waitForResponse((response) => response.url().endsWith(`/runs/${run}`) && response.request().resourceType() === "fetch");
  await needs(page).getByLabel("Comment (optional)").fill("not yet");
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await site.there.api("POST", `/runs/${run}/tasks/publish/instances/0/mark`, { as: "skipped", reason: "so that the page changes" });
  await refreshed;
  await button(page, "Reject").click();
  await told(page, "ask is rejected");
  await head(page, "Failed");
  await needs(page).getByText("Emil rejected it: not yet").waitFor();
  flawless(page);
});

test("who may not decide sees the question, and why", async () => {
  const run = await asking();
  const page = await open(`/runs/${run}`, { as: "vera" });
  await needs(page).getByText("Publish the model?").waitFor();
  await needs(page).getByText("To decide, you need the role editor in the project").waitFor();
  assert.equal(await needs(page).getByRole("button").count(), 0);
  await site.there.api("POST", `/runs/${run}/cancel`);
  await needs(page).getByText("Cancelled by ada").waitFor();
  assert.equal(await button(page, "Resume").count(), 0);
  flawless(page);
});

test("a failed run names its first failure with the item, leads to the editor, and is resumed with the newer version", async () => {
  const { api, failed } = site.there;
  const page = await open(`/runs/${failed}`);
  const failure = needs(page).getByRole("heading", { name: /spread failed first/ });
  await failure.waitFor();
  assert.match(await failure.innerText(), /at item #1\s+\{"depth":5\}/);
  await needs(page).getByText("cannot read 5").waitFor();
  await needs(page).getByText("Version 2 changes spread.").waitFor();
  const links = await needs(page).getByRole("link").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  assert.ok(links.includes("/projects/default/pipelines/sweep/compare?from=1&to=2"), String(links));
  assert.ok(links.includes("/projects/default/pipelines/sweep/edit#task/spread"), String(links));
  await button(page, "Resume with version 1 again").waitFor();
  await button(page, "Resume with version 2").click();
  await dialog(page).getByText("Version 2 runs spread, evaluate. 1 task keeps its result.").waitFor();
  await press(page, "Resume");
  await page.waitForURL((url) => /^\/runs\//.test(url.pathname) && !url.pathname.includes(failed));
  await told(page, "The run was resumed with version 2");
  const run = new URL(page.url()).pathname.split("/").pop();
  await head(page, "Succeeded");
  await page.locator("#run-head").getByRole("link", { name: `resumes run ${failed.slice(-8)}` }).waitFor();
  const { body } = await api("GET", `/runs/${run}`);
  assert.deepEqual([body.version, body.tasks.states], [2, { reused: 1, succeeded: 2 }]);
  flawless(page);
});

test("the older version runs only when it is named", async () => {
  const { api, failed } = site.there;
  const page = await open(`/runs/${failed}`);
  await button(page, "Resume with version 1 again").click();
  await dialog(page, "Resume with version 1 again").getByText("It runs version 1 of the pipeline. Version 2 of the pipeline is newer.").waitFor();
  await press(page, "Resume");
  await told(page, "The run was resumed");
  await ended(api, failed);
  await head(page, "Failed");
  assert.equal((await state(failed)).version, 1);
  await page.locator("#run-need").getByRole("link", { name: "Edit pipeline" }).click();
  await page.waitForURL("**/projects/default/pipelines/sweep/edit#task/spread");
});

test("a run whose tasks all wait is pending, and says why", async () => {
  await whilePending(async (pending, holder) => {
    const page = await open(`/runs/${pending}`);
    await head(page, "Pending");
    await needs(page).getByRole("heading", { name: "Pending: no task is running" }).waitFor();
    await needs(page).getByText("3 of 3 pending").waitFor();
    await needs(page).getByText("Insufficient resources: requests 4 CPU").waitFor();
    await page.goto("/projects/default/runs");
    await page.locator(`#run-${pending} .runs-state`, { hasText: "Pending" }).waitFor();
    await page.locator(`#run-${holder} .runs-state`, { hasText: "Running" }).waitFor();
    flawless(page);
    for (const { lang, theme, size, accessible } of LOOKS) await readable(pending, { lang, theme, size }, accessible);
  });
});

async function readable(run, options, accessible) {
  const page = await open(`/runs/${run}`, options);
  await needs(page).locator("section").first().waitFor();
  assert.deepEqual(await look(page, options.lang, { accessible }), [], run);
  await page.context().close();
}

test("every other need is readable", async () => {
  const { api, failed, cancelled } = site.there;
  const run = await asking();
  for (const { lang, theme, size, accessible } of LOOKS) {
    for (const each of [failed, cancelled, run]) await readable(each, { lang, theme, size }, accessible);
  }
  await api("POST", `/runs/${run}/cancel`);
  await ended(api, run);
});
