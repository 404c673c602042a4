// The forecast marks at the editor's nodes: how each task would fare if the pipeline ran now.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { flawless, look } from "./support/browser.mjs";
import { node, openEditor } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, stage, start } from "./support/stage.mjs";

/** One task that uses seven of the machine's eight CPUs. */
const HOLDS = (line) => `apiVersion: cubeloom/v1
kind: Pipeline
name: holds
tasks: [{name: hold, template: command, resources: {cpu: 7, memory: 64Mi}, arguments: {command: [sh, -c, "${line}"]}}]
`;

const MARKED = `apiVersion: cubeloom/v1
kind: Pipeline
name: marked
tasks:
  - {name: small, template: command, resources: {cpu: 500m, memory: 64Mi}, arguments: {command: ['true']}}
  - {name: large, template: command, resources: {cpu: 6, memory: 64Mi}, arguments: {command: ['true']}}
  - {name: huge, template: command, resources: {cpu: 64, memory: 64Mi}, arguments: {command: ['true']}}
  - {name: last, template: command, needs: [small], resources: {cpu: 500m, memory: 64Mi}, arguments: {command: ['true']}}
`;

// Before the server is stopped: its jobs would go on.
after(async () => {
  await site.there.api("POST", `/runs/${site.there.live}/cancel`);
  await ended(site.there.api, site.there.live);
});

const site = siteFor(async (server) => {
  const there = await stage(server);
  const { api } = there;
  for (let n = 0; n < 3; n += 1) await ended(api, await start(api, { document: HOLDS("sleep 0.3") }));
  const live = await start(api, { document: HOLDS("sleep 300") });
  await api("POST", "/projects/default/pipelines", { document: MARKED, message: "as it began" });
  await eventually(async () => {
    const { body } = await api("GET", "/clusters/local");
    assert.ok(body.running.some((one) => one.run === live), "the job runs");
  });
  return { ...there, live };
});

const mark = (page, task) => node(page, task).locator(".cv-outlook");
const why = (page, task) => node(page, task).locator(".cv-outlook-why");

test("each node says whether its task would start, wait or never fit, and why", async () => {
  const page = await openEditor(site, "emil", "/projects/default/pipelines/marked/edit");
  await mark(page, "small").getByText("Starts now").waitFor();
  await mark(page, "large").getByText(/Waits about \d+ minutes?/).waitFor();
  await mark(page, "huge").getByText("Can never fit").waitFor();
  assert.equal(await mark(page, "last").count(), 0, "of what comes later nothing is said");
  // The reason is shown beside the node while it is selected, and as part of its label.
  await node(page, "large").click();
  await why(page, "large").getByText(/requests 6 CPU/).waitFor();
  await why(page, "large").getByText(/7 of 8 CPU in use by hold of default \(ada\): 7 CPU\./).waitFor();
  assert.match(await node(page, "large").getAttribute("aria-label"), /Waits about \d+ minutes?.*requests 6 CPU/);
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/outlook.png` });
  await node(page, "huge").click();
  await why(page, "huge").getByText(/64 CPU/).waitFor();
  // It lies over all other nodes.
  const layer = (task) => node(page, task).evaluate((one) => Number(getComputedStyle(one.parentElement).zIndex));
  for (const task of ["small", "large", "last"]) assert.ok((await layer("huge")) > (await layer(task)), task);
  assert.deepEqual(await look(page, "en"), []);
  flawless(page);
  await page.context().close();
});
