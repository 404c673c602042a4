// Comparing target clusters before a run: in the dialogs of the page and of the editor, with mouse, keyboard
// and on a phone. The default is marked, and a different target needs an explicit choice.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { openEditor } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { KUBECONFIG } from "./support/observed.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, stage, start } from "./support/stage.mjs";

const GOES = `apiVersion: cubeloom/v1
kind: Pipeline
name: goes
parameters:
  nap: {type: number, default: 0.3}
tasks:
  - {name: work, template: command, resources: {cpu: 1, memory: 64Mi}, arguments: {command: [sleep, "{{ params.nap }}s"]}}
`;

const HUGE = GOES.replace("name: goes", "name: huge").replace("cpu: 1,", "cpu: 64,");

// Its timeout bounds the end, however long it has run by then.
const WIDE = GOES.replace("name: goes", "name: wide").replace("cpu: 1,", "cpu: 7,").replace("{name: work,", "{name: work, timeout: 20m,");

const PATH = "/projects/default/pipelines/goes";

const site = siteFor(async (server) => {
  const there = await stage(server);
  const { api } = there;
  for (const document of [GOES, HUGE, WIDE]) await api("POST", "/projects/default/pipelines", { document, message: "as it began" });
  for (let n = 0; n < 3; n += 1) {
    for (const pipeline of ["goes", "wide"]) await ended(api, await start(api, { pipeline }));
  }
  await api("POST", "/prices", { cluster: "local", cpu_hour: "3600" });
  await api("POST", "/clusters", { name: "far", access: "kubeconfig", kubeconfig: KUBECONFIG, node_groups: { cards: { selector: { pool: "cards" } } } });
  return there;
});

const place = (page, name) => page.getByRole("dialog").locator(`[data-place="${name}"]`);
const run = (page) => page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();

/** The cluster of the pipeline's newest run, and the chosen target. */
async function newest() {
  const { api } = site.there;
  const { body } = await api("GET", "/projects/default/runs?pipeline=goes&limit=1");
  const { id } = body.items[0];
  const audit = await api("GET", "/audit?action=run.start&limit=1");
  return { id, cluster: (await api("GET", `/runs/${id}/plan`)).body.cluster, chosen: audit.body.items[0].after.place };
}

test("places are compared, and the default is taken where nobody chooses", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto(PATH);
  await settled(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const local = place(page, "local");
  await local.getByText("Starts now").waitFor();
  assert.match(await local.innerText(), /Default[\s\S]*Wait time[\s\S]*Duration\s*\d[\s\S]*up to[\s\S]*Cost\s*\d+\.\d\d/);
  assert.equal(await local.getByRole("radio").isChecked(), true);
  assert.equal(await place(page, "far").getByRole("radio").isChecked(), false);
  assert.deepEqual(await look(page, "en"), []);
  await run(page);
  await page.waitForURL(/\/runs\//);
  const made = await newest();
  assert.deepEqual([made.cluster, made.chosen], ["local", undefined]);
  await ended(site.there.api, made.id);
  flawless(page);
  await page.context().close();
});

test("a place where it cannot run is told with its reason, and cannot be chosen", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto(PATH.replace("goes", "huge"));
  await settled(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await place(page, "local").getByText("Cannot run here").waitFor();
  await place(page, "local").getByText(/^\/tasks\/0\/resources/).waitFor();
  assert.equal(await place(page, "local").getByRole("radio").isDisabled(), true);
  assert.equal(await place(page, "far").getByRole("radio").isDisabled(), false);
  assert.deepEqual(await look(page, "en"), []);
  flawless(page);
  await page.context().close();
});

test("what is compared follows the parameters", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto(PATH);
  await settled(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await place(page, "local").getByText("Starts now").waitFor();
  await page.getByRole("dialog").getByLabel(/nap/).fill("long");
  await page.getByRole("dialog").getByText("Cannot compare yet").waitFor();
  await page.getByRole("dialog").getByLabel(/nap/).fill("0.2");
  await place(page, "local").getByText("Starts now").waitFor();
  flawless(page);
  await page.context().close();
});

test("another place is chosen with the keyboard, in the editor, for this run alone", async () => {
  const page = await openEditor(site, "emil", `${PATH}/edit`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await place(page, "local").getByText("Starts now").waitFor();
  await place(page, "local").getByRole("radio").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await place(page, "far").getByRole("radio").isChecked(), true);
  // A new comparison keeps the choice.
  const compared = page.waitForResponse((answer) => answer.url().endsWith("/forecast/places"));
  await dialog.getByLabel(/nap/).fill("0.2");
  await compared;
  await dialog.locator(".places:not([aria-busy])").waitFor();
  assert.equal(await place(page, "far").getByRole("radio").isChecked(), true);
  await run(page);
  await eventually(async () => assert.equal((await newest()).chosen, "far"));
  const made = await newest();
  assert.equal(made.cluster, "far");
  await site.there.api("POST", `/runs/${made.id}/cancel`);
  assert.doesNotMatch((await site.there.api("GET", "/projects/default/pipelines/goes")).body.document, /cluster/);
  flawless(page);
  await page.context().close();
});

for (const theme of ["light", "dark"]) {
  test(`on a phone the places are below each other, ${theme}`, async () => {
    const page = await site.open({ as: "emil", size: "narrow", theme });
    await page.goto(PATH);
    await settled(page);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await place(page, "local").getByText("Starts now").waitFor();
    assert.deepEqual(await look(page, "en"), []);
    flawless(page);
    await page.context().close();
  });
}

test("a place that is full says how long a run would wait there", async () => {
  const { api } = site.there;
  const holds = await start(api, { pipeline: "wide", parameters: { nap: 300 } });
  await eventually(async () => assert.equal((await api("GET", `/runs/${holds}`)).body.state, "running"));
  const page = await site.open({ as: "emil" });
  await page.goto(PATH.replace("goes", "wide"));
  await settled(page);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await place(page, "local").getByText(/^\d+ minutes?/).waitFor();
  assert.match(await place(page, "local").innerText(), /Wait time\s*\d+ minutes?[\s\S]*up to \d+ minutes?[\s\S]*Duration\s*\d/);
  assert.deepEqual(await look(page, "en"), []);
  flawless(page);
  await page.context().close();
  await api("POST", `/runs/${holds}/cancel`);
  await ended(api, holds);
});
