// A task that runs another pipeline: named in the form, with links from the task to that run and back.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { node, openEditor, problems, save } from "./support/editor.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const STEPS = `apiVersion: cubeloom/v1
kind: Pipeline
name: prepare-data
parameters: {field: {type: string, default: north}}
tasks:
  - {name: clean, template: command, resources: {cpu: 100m, memory: 64Mi}, arguments: {command: [echo, "{{ params.field }}"]}}
`;

const CALLS = `apiVersion: cubeloom/v1
kind: Pipeline
name: calls
tasks:
  - {name: prepare, template: pipeline, arguments: {pipeline: nothing-yet}}
`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  const api = server.api(server.token("emil"));
  for (const document of [STEPS, CALLS]) await api("POST", "/projects/default/pipelines", { document });
  return { api };
});

test("the other pipeline is chosen among the project's, and both runs lead to each other", async () => {
  const { api } = site.there;
  const page = await openEditor(site, "emil", "/projects/default/pipelines/calls/edit");
  await problems(page, "error").waitFor();
  await node(page, "prepare").click();
  const field = page.locator(".task-form").getByRole("combobox", { name: /^Pipeline/ });
  await field.fill("prep");
  await page.getByRole("option", { name: "prepare-data" }).waitFor();
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "prepare-data");
  await save(page, "the steps have a name");
  flawless(page);

  const run = await start(api, { pipeline: "calls" });
  await ended(api, run);
  await page.goto(`/runs/${run}/tasks/prepare`);
  await settled(page);
  await page.locator("#task-title .state.pill", { hasText: "Succeeded" }).waitFor();
  await page.locator(".attempts a", { hasText: /^Run / }).click();
  await page.locator("h1", { hasText: "prepare-data" }).waitFor();
  await page.locator(".run-parent a", { hasText: "started by prepare of run" }).click();
  await page.waitForURL((url) => url.pathname === `/runs/${run}/tasks/prepare`);
  await page.goto("/projects/default/runs");
  await settled(page);
  assert.equal(await page.locator(".runs-parent a").count(), 1);
  flawless(page);
  await page.context().close();
});
