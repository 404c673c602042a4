// Actions on runs: cancel, resume, rerun in part or in full, delete; and on several runs at once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { dialog, press, refused, told } from "./support/dialog.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

/** A task that waits for the test, and one that depends on it. */
const HELD = (gate) => `apiVersion: cubeloom/v1
kind: Pipeline
name: held
parameters: {gate: {type: string, default: ${gate}}}
tasks:
  - name: waits
    template: command
    resources: {cpu: 100m, memory: 64Mi}
    arguments: {command: [sh, -c, 'until test -e "$1"; do sleep 0.1; done', sh, "{{ params.gate }}"]}
  - {name: after, template: command, needs: [waits], resources: {cpu: 100m, memory: 64Mi}, arguments: {command: ["true"]}}
`;

/** A task that fails until the test has created a file. */
const BROKEN = (file) => `apiVersion: cubeloom/v1
kind: Pipeline
name: broken
tasks:
  - {name: first, template: command, arguments: {command: ["true"]}}
  - {name: needs-it, template: command, needs: [first], arguments: {command: [cat, ${file}]}}
  - {name: last, template: command, needs: [needs-it], arguments: {command: ["true"]}}
`;

/** An approval task, and one that depends on it. */
const ASKS = `apiVersion: cubeloom/v1
kind: Pipeline
name: asks
tasks:
  - {name: ask, template: approval, arguments: {message: "Publish the model?"}}
  - {name: publish, template: command, needs: [ask], arguments: {command: ["true"]}}
`;

/** A task that fails, and one that depends on it. */
const FAILS = `apiVersion: cubeloom/v1
kind: Pipeline
name: fails
tasks:
  - {name: pull, template: command, arguments: {command: ["false"]}}
  - {name: train, template: command, needs: [pull], arguments: {command: ["true"]}}
`;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  for (const document of [HELD(server.path("gate")), BROKEN(server.path("file")), ASKS, FAILS]) {
    await api("POST", "/projects/default/pipelines", { document });
  }
  return { api };
});

const head = (page, word) => page.locator("#run-head .state.pill", { hasText: word }).waitFor();
const act = (page, word) => page.locator("#run-actions").getByRole("button", { name: word, exact: true });
const stays = (page) => page.evaluate(() => { window.notReloaded = true; });
const stayed = async (page) => assert.ok(await page.evaluate(() => window.notReloaded), "the page was not loaded again");

async function open(path, as = "ada") {
  const page = await site.open({ as });
  await page.goto(path);
  await settled(page);
  await stays(page);
  return page;
}

test("a run is cancelled, and deleted while somebody else looks at it", async () => {
  const { api } = site.there;
  const run = await start(api, { pipeline: "held" });
  const [page, other] = [await open(`/runs/${run}?tab=table`), await open(`/runs/${run}`, "emil")];
  await head(page, "Running");
  assert.equal(await act(page, "Delete").count(), 0, "what runs is not deleted");
  await act(page, "Cancel run").click();
  await press(page, "Cancel");
  await dialog(page).waitFor({ state: "detached" });
  assert.notEqual((await api("GET", `/runs/${run}`)).body.state, "cancelled", "who does not say yes changes nothing");
  await act(page, "Cancel run").click();
  await press(page, "Cancel run");
  await told(page, "The run is being cancelled");
  for (const one of [page, other]) await head(one, "Cancelled");
  await page.locator("#run-tab").getByText("Cancelled").first().waitFor();
  for (const one of [page, other]) await stayed(one);

  await act(page, "Delete").click();
  await press(page, "Delete");
  await page.waitForURL("**/projects/default/runs");
  await told(page, "The run was deleted");
  assert.equal(await page.locator(`#run-${run}`).count(), 0);
  await told(other, "This run has been deleted.");
  await assert.rejects(api("GET", `/runs/${run}`), /404/);
  for (const one of [page, other]) {
    // The page that deletes it may also have sent one more request before.
    refused(one, 404);
    flawless(one);
    await one.context().close();
  }
});

test("what failed is resumed when its cause is gone; a task and what follows is run again; all of it is run again", async () => {
  const { api } = site.there;
  const run = await start(api, { pipeline: "broken" });
  const page = await open(`/runs/${run}?tab=table`);
  await head(page, "Failed");
  const needs = page.locator("#run-need");
  await needs.getByText("needs-it failed first").waitFor();
  await needs.locator(".failure-lines").getByText(/No such file/).waitFor();
  site.server.write("file", "here it is");
  await needs.getByRole("button", { name: "Resume", exact: true }).click();
  await press(page, "Resume");
  await told(page, "The run was resumed");
  await head(page, "Succeeded");
  await needs.locator("section").waitFor({ state: "detached" });

  await page.locator("#run-tab a[data-task=needs-it]").first().click();
  const panel = page.locator("#task-panel");
  await panel.locator("#attempt-2").waitFor();
  await panel.getByRole("button", { name: "Rerun from here" }).click();
  await dialog(page).getByText("Rerun needs-it and all downstream tasks?").waitFor();
  await press(page, "Rerun");
  await told(page, "needs-it and its downstream tasks run again");
  await panel.locator("#attempt-3").waitFor();
  await head(page, "Succeeded");
  await panel.locator("#attempt-3").getByText("Succeeded").waitFor();
  assert.equal((await api("GET", `/runs/${run}/tasks/first/instances`)).body.items[0].attempt, 1, "what came before it was not run again");
  await stayed(page);

  await panel.getByRole("button", { name: "Close" }).click();
  await act(page, "Rerun").click();
  await press(page, "Rerun");
  await page.waitForURL((url) => /^\/runs\//.test(url.pathname) && !url.pathname.includes(run));
  await head(page, "Succeeded");
  flawless(page);
  await page.context().close();
});

test("in the list several are chosen, cancelled and started again, and new rows wait to be asked for", async () => {
  const { api } = site.there;
  const runs = [];
  for (let at = 0; at < 3; at += 1) runs.push(await start(api, { pipeline: "held" }));
  const page = await open("/projects/default/runs?pipeline=held");
  const tick = (run) => page.locator(`#run-${run} input[name=run]`);
  const bulk = page.locator("#bulk");
  assert.ok(await bulk.isHidden());
  for (const run of runs.slice(0, 2)) await tick(run).check();
  await bulk.getByText("2 selected").waitFor();
  assert.ok(await page.locator("#all").evaluate((all) => all.indeterminate));
  await bulk.getByRole("button", { name: "Cancel runs" }).click();
  await press(page, "Cancel runs");
  await told(page, "2 runs are being cancelled");
  for (const run of runs.slice(0, 2)) await page.locator(`#run-${run}[data-state=cancelled]`).waitFor();
  assert.notEqual(await page.locator(`#run-${runs[2]}`).getAttribute("data-state"), "cancelled");
  await bulk.waitFor({ state: "hidden" });

  await page.locator("#all").check();
  await bulk.getByText("3 selected").waitFor();
  await bulk.getByRole("button", { name: "Clear selection" }).click();
  assert.ok(await bulk.isHidden());
  for (const run of runs.slice(0, 2)) await tick(run).check();
  await bulk.getByRole("button", { name: "Rerun" }).click();
  await press(page, "Rerun");
  await told(page, "2 runs were started");
  const newer = page.getByRole("button", { name: "Show 2 new runs" });
  await newer.waitFor();
  assert.equal(await page.locator("#runs tbody tr").count(), 3, "nothing moves by itself");
  await stayed(page);
  await newer.click();
  await eventually(async () => assert.equal(await page.locator("#runs tbody tr").count(), 5));

  // A run that is deleted meanwhile is reported; the others are still cancelled.
  await settled(page);
  await page.locator("#all").check();
  await bulk.getByText("5 selected").waitFor();
  await api("DELETE", `/runs/${runs[0]}`);
  await bulk.getByRole("button", { name: "Cancel runs" }).click();
  await press(page, "Cancel runs");
  await page.locator(".toast[data-kind=error]").first().waitFor();
  await page.locator(`#run-${runs[2]}[data-state=cancelled]`).waitFor();
  for (const { id } of (await api("GET", "/projects/default/runs?pipeline=held")).body.items) await ended(api, id);
  flawless(page);
  await page.context().close();
});

test("a question is answered by keyboard, by whoever may", async () => {
  const { api } = site.there;
  const run = await start(api, { pipeline: "asks" });
  const viewer = await open(`/runs/${run}/tasks/ask`, "vera");
  await viewer.getByText("Publish the model?").first().waitFor();
  assert.equal(await viewer.getByRole("button", { name: "Approve" }).count(), 0);
  await viewer.getByText("To decide, you need the role editor in the project").waitFor();

  const page = await open("/", "emil");
  await page.locator("#home-waiting, main").getByText("Publish the model?").first().waitFor();
  await page.goto(`/runs/${run}/tasks/ask`);
  await settled(page);
  await page.getByLabel("Comment (optional)").focus();
  await page.keyboard.type("The figures are right");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await told(page, "ask is approved");
  await ended(api, run);
  for (const each of [page, viewer]) {
    await each.locator("#task-title .state.pill", { hasText: "Succeeded" }).waitFor();
    await each.locator("#task-outputs", { hasText: "The figures are right" }).waitFor();
    flawless(each);
  }
});

test("the outcome of a task is set by keyboard, and its run goes on", async () => {
  const { api } = site.there;
  const run = await start(api, { pipeline: "fails" });
  await ended(api, run);
  const viewer = await open(`/runs/${run}/tasks/pull`, "vera");
  assert.equal(await viewer.getByRole("button", { name: "Mark as…" }).count(), 0);

  const page = await open(`/runs/${run}/tasks/pull`, "emil");
  await page.locator("#task-title .state.pill", { hasText: "Failed" }).waitFor();
  await page.getByRole("button", { name: "Mark as…" }).focus();
  await page.keyboard.press("Enter");
  await dialog(page).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("The file is there");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await told(page, "The outcome of pull is set");
  await page.locator("#task-title .state.pill", { hasText: "Succeeded" }).waitFor();
  await page.getByText("Marked as succeeded by emil: The file is there").waitFor();
  await ended(api, run);
  assert.equal((await api("GET", `/runs/${run}`)).body.state, "succeeded");
  for (const each of [page, viewer]) flawless(each);
});
