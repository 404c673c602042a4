// The grid of a pipeline's runs by tasks: what it shows, its order, its keys, a narrow screen, and that it is live.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, LOOKS, settled } from "./support/browser.mjs";
import { until } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

/** Its task `train` fails with `fail=yes`, after a retry. `first` is the name of the first task. */
const NIGHTLY = (first) => `apiVersion: cubeloom/v1
kind: Pipeline
name: nightly
parameters: {fail: {type: string, default: "no"}}
tasks:
  - {name: ${first}, template: command, resources: {cpu: 100m, memory: 64Mi}, arguments: {command: ["true"]}}
  - name: train
    template: command
    needs: [${first}]
    resources: {cpu: 100m, memory: 64Mi}
    retry: {attempts: 2, on: [error], backoff: {initial: 10ms}}
    arguments: {command: [sh, -c, 'test "$1" = no', sh, "{{ params.fail }}"]}
  - {name: report, template: command, needs: [train], resources: {cpu: 100m, memory: 64Mi}, arguments: {command: ["true"]}}
`;

/** Its task ends once the file exists. */
const HELD = (gate) => `apiVersion: cubeloom/v1
kind: Pipeline
name: held
tasks: [{name: hold, template: command, resources: {cpu: 100m, memory: 64Mi}, arguments: {command: [sh, -c, 'until test -e ${gate}; do sleep 0.1; done']}}]
`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("emil"));
  const path = "/projects/default/pipelines";
  await api("POST", path, { document: NIGHTLY("old") });
  await api("POST", path, { document: HELD(server.path("gate")) });
  const run = async (fail) => {
    const id = await start(api, { pipeline: "nightly", parameters: { fail } });
    await ended(api, id);
    return id;
  };
  const runs = [await run("no")];
  await api("PUT", `${path}/nightly`, { document: NIGHTLY("pull") }, { "if-match": '"1"' });
  for (const fail of ["yes", "no", "yes"]) runs.push(await run(fail));
  return { api, runs };
});

const TAB = "/projects/default/pipelines/nightly?tab=runs";

async function open(path, as, more = {}) {
  const page = await site.open({ as, ...more });
  await page.goto(path);
  await settled(page);
  return page;
}

const grid = (page) => page.getByRole("grid");
/** The row of a task. */
const row = (page, task) => grid(page).getByRole("row").filter({ has: page.getByRole("rowheader", { name: task }) });
/** The names of the tasks, from top to bottom. */
const names = (page) => grid(page).locator("[role=rowheader] .clip").allTextContents();
/** The titles of a task's cells, from left to right. */
const titles = (page, task) => row(page, task).locator("[title]:is(a, [role=gridcell])").evaluateAll((all) => all.map((one) => one.title));
/** The title of what has the focus. */
const focus = (page) => page.evaluate(() => document.activeElement?.getAttribute("title"));

test("each task has a row that says what became of it in each run, and how often it failed", async () => {
  const { runs } = site.there;
  const page = await open(TAB, "vera");
  await page.getByRole("heading", { name: "Tasks in the last 4 runs" }).waitFor();
  await page.getByText(/^Durations of 2 succeeded runs: median \d.* \(dashed line\), P90 \d.*\.$/).waitFor();
  assert.deepEqual(await names(page), ["pull", "train", "report", "old"]);
  const [first, failed, good, last] = await titles(page, "train");
  assert.match(first, /^train: succeeded, \d.* s, 1 attempt$/);
  assert.match(failed, /^train: failed, \d.* s, 2 attempts$/);
  assert.match(good, /^train: succeeded, /);
  assert.match(last, /^train: failed, /);
  assert.deepEqual((await titles(page, "report"))[1], "report: upstream failed");
  assert.deepEqual((await titles(page, "old")).slice(1), Array(3).fill("old: not in this run"));
  assert.equal(await row(page, "train").locator(".task-grid-failures").innerText(), "2 failed");
  assert.equal(await row(page, "pull").locator(".task-grid-failures").innerText(), "");
  await row(page, "old").getByText("removed").waitFor();
  const bars = grid(page).locator(".task-grid-bar");
  assert.deepEqual(await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute("href"))), runs.map((run) => `/runs/${run}`));
  assert.match(await bars.nth(1).getAttribute("title"), new RegExp(`^Run ${runs[1].slice(-8)}: failed, \\d.* s, version 2, `));
  assert.ok(await grid(page).locator(".task-grid-runs[data-median]").count(), "the median is drawn");
  // A sign, not only a colour.
  assert.equal(await grid(page).getByRole("link", { name: /^train: failed/ }).first().locator("use").getAttribute("href"), "#i-state-failed");

  await page.getByLabel("Order").selectOption("failures");
  assert.deepEqual(await names(page), ["train", "pull", "report", "old"]);
  assert.deepEqual(await look(page, "en"), []);
  await grid(page).getByRole("link", { name: /^train: failed/ }).first().click();
  await page.waitForURL(`**/runs/${runs[1]}/tasks/train`);
  flawless(page);
  await page.context().close();
});

test("the arrow keys move in the grid, and Enter opens a run or its task", async () => {
  const { runs } = site.there;
  const page = await open(TAB, "emil");
  const stops = grid(page).locator("[tabindex='0']");
  assert.equal(await stops.count(), 1, "Tab stops at the grid once");
  await page.getByLabel("Order").focus();
  await page.keyboard.press("Tab");
  assert.match(await focus(page), new RegExp(`^Run ${runs[3].slice(-8)}: `), "it begins with the newest run");
  await page.keyboard.press("ArrowDown");
  assert.match(await focus(page), /^pull: succeeded/);
  await page.keyboard.press("Home");
  assert.equal(await focus(page), "pull: not in this run");
  await page.keyboard.press("Control+End");
  assert.equal(await focus(page), "old: not in this run");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowRight");
  assert.match(await focus(page), /^train: failed/);
  await page.keyboard.press("ArrowLeft");
  assert.match(await focus(page), /^train: succeeded/);
  assert.equal(await stops.count(), 1);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/runs/${runs[2]}/tasks/train`);

  await page.goto(TAB);
  await settled(page);
  await stops.focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/runs/${runs[0]}`);
  flawless(page);
  await page.context().close();
});

for (const { lang, theme, size, accessible } of LOOKS) {
  test(`the grid in ${lang}, ${theme}, ${size}`, async () => {
    const page = await open(TAB, "vera", { lang, theme, size });
    await grid(page).waitFor();
    assert.deepEqual(await look(page, lang, { accessible }), []);
    flawless(page);
    await page.context().close();
  });
}

test("on a narrow screen the newest runs are in view, and the names of tasks stay", async () => {
  const { api } = site.there;
  const runs = [];
  for (let n = 0; n < 10; n += 1) runs.push(await start(api, { pipeline: "nightly" }));
  for (const run of runs) await ended(api, run);
  const page = await open(TAB, "vera", { size: "narrow" });
  const box = await grid(page).boundingBox();
  const edges = async (locator) => {
    const { x, width } = await locator.boundingBox();
    return [x - box.x, x + width - box.x];
  };
  const name = row(page, "train").getByRole("rowheader");
  const bars = grid(page).locator(".task-grid-bar");
  assert.equal(await bars.count(), 14);
  assert.ok((await edges(bars.last()))[1] <= box.width, "the newest run is in view");
  assert.ok((await edges(bars.first()))[1] <= 0, "the oldest run is out of view");
  assert.ok((await edges(name))[0] >= 0);
  // The focused cell is not covered by the names.
  await bars.last().focus();
  await page.keyboard.press("Home");
  const [left] = await edges(bars.first());
  assert.ok(left >= (await edges(name))[1] - 1, `${left}`);
  assert.ok((await edges(name))[0] >= 0);
  assert.deepEqual(await look(page, "en", { accessible: false }), []);
  flawless(page);
  await page.context().close();
});

test("without runs the page says what to do; the grid appears with the first run and follows it", async () => {
  const { api } = site.there;
  const page = await open("/projects/default/pipelines/held?tab=runs", "emil");
  await page.getByText("Start a run or set a schedule.").waitFor();
  await page.locator("#runs-tab [data-start]").waitFor();
  assert.deepEqual(await look(page, "en"), []);

  const run = await start(api, { pipeline: "held" });
  await grid(page).getByRole("link", { name: /^hold: running, 1 attempt/ }).waitFor();
  await settled(page);
  await page.evaluate(() => { window.notReloaded = true; });
  const cell = grid(page).getByRole("link", { name: /^hold: / }).first();
  await cell.focus();
  site.server.write("gate", "");
  await ended(api, run);
  await grid(page).getByRole("link", { name: /^hold: succeeded, \d.* s, 1 attempt/ }).waitFor();
  await page.locator(`#run-${run} [data-state=succeeded]`).waitFor();
  assert.match(await focus(page), /^hold: succeeded/, "the focus stays");

  const second = await start(api, { pipeline: "held" });
  await ended(api, second);
  await until("both runs to be shown", async () => (await grid(page).getByRole("link", { name: /^hold: succeeded/ }).count()) === 2);
  await page.getByRole("heading", { name: "Tasks in the last 2 runs" }).waitFor();
  assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");
  assert.equal(await cell.getAttribute("href"), `/runs/${run}/tasks/hold`);
  assert.deepEqual(await look(page, "en"), []);
  flawless(page);
  await page.context().close();
});
