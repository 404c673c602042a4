// The list of pipelines: label filters, recent runs as a spark line; and a pipeline's hooks, old versions and
// deletion.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { dialog, fill, mistake, press, refused, told } from "./support/dialog.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const document = (name, labels, command) => `apiVersion: cubeloom/v1
kind: Pipeline
name: ${name}
labels: ${labels}
parameters: {steps: {type: integer, default: 1, maximum: 5}}
tasks: [{name: a, template: command, arguments: {command: [${command}]}}]
`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  const token = server.token("emil");
  const api = server.api(token);
  for (const text of [
    document("faces", "{team: vision, stage: trial}", "sh, -c, 'test {{ params.steps }} = 1'"),
    document("words", "{team: language}", '"true"'),
    document("plain", "{}", '"true"'),
  ]) await api("POST", "/projects/default/pipelines", { document: text });
  const runs = [];
  for (const steps of [1, 2, 1]) {
    runs.push(await start(api, { pipeline: "faces", parameters: { steps } }));
    await ended(api, runs.at(-1));
  }
  const sendCode = async () => {
    const archive = execFileSync("tar", ["-czC", dirname(server.write("main.py", "print(1)\n")), "main.py"]);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/gzip" };
    const answer = await fetch(`${server.url}/api/v1/projects/default/code`, { method: "PUT", headers, body: archive });
    assert.ok(answer.ok, await answer.clone().text());
    return answer.json();
  };
  return { api, runs, sendCode };
});

const names = (page) => page.locator("#pipelines tbody th a").allTextContents();

test("a label narrows the list, together with what is searched for, and is taken away again", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/default/pipelines");
  await settled(page);
  assert.deepEqual((await names(page)).toSorted(), ["faces", "plain", "words"]);
  await page.locator(".tags a", { hasText: "vision" }).click();
  await page.waitForURL(/label=/);
  assert.deepEqual(await names(page), ["faces"]);
  await page.getByRole("searchbox").fill("words");
  await page.keyboard.press("Enter");
  await page.getByText("No results").waitFor();
  await page.locator(".chip").click();
  await page.waitForURL((url) => !url.searchParams.has("label"));
  assert.deepEqual(await names(page), ["words"], "what is searched for stays");
  await page.goto("/projects/default/pipelines?q=language");
  assert.deepEqual(await names(page), ["words"], "labels are searched, too");
  flawless(page);
  await page.context().close();
});

test("the spark line has the last runs, how each ended, and leads to it", async () => {
  const { runs } = site.there;
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/default/pipelines");
  await settled(page);
  const bars = page.locator("tr", { hasText: "faces" }).locator(".spark-bar");
  assert.deepEqual(await bars.evaluateAll((all) => all.map((bar) => bar.dataset.state)), ["succeeded", "failed", "succeeded"]);
  assert.deepEqual(await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute("href"))), runs.map((run) => `/runs/${run}`));
  assert.match(await bars.nth(1).getAttribute("title"), /^Failed · /);
  assert.equal(await page.locator("tr", { hasText: "words" }).locator(".spark-bar").count(), 0);
  assert.deepEqual(await look(page, "en"), []);
  await bars.nth(1).click();
  await page.waitForURL(`**/runs/${runs[1]}`);
  flawless(page);
  await page.context().close();
});

test("a hook starts the pipeline, gets another address, and ends", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/default/pipelines/faces?tab=hooks");
  await settled(page);
  await page.getByText("No hooks yet").waitFor();
  await page.getByRole("button", { name: "New hook" }).click();
  await press(page, "Create");
  await mistake(dialog(page), "name").waitFor();
  refused(page, 422);
  await fill(dialog(page), { Name: "the nightly build" });
  await dialog(page).locator("[data-field=steps] input").fill("2");
  await press(page, "Create");
  await told(page, "The hook was created");
  const card = page.locator("[data-hook]", { hasText: "the nightly build" });
  await card.getByText(/steps="?2/).waitFor();
  const address = async () => /'(http[^']+)'/.exec(await card.locator("code").innerText())[1];
  const call = async (url) => (await fetch(url, { method: "POST" })).status;

  const first = await address();
  assert.equal(Math.floor((await call(first)) / 100), 2);
  const newest = (await site.there.api("GET", "/projects/default/runs?limit=1")).body.items[0];
  assert.deepEqual([newest.pipeline, newest.parameters.steps], ["faces", "2"]);
  await card.getByText("never").waitFor();
  await page.reload();
  await eventually(async () => assert.equal(await card.getByText("never").count(), 0));

  await settled(page);
  await card.getByRole("button", { name: "New URL" }).click();
  await press(page, "New URL");
  await told(page, "The hook has a new URL");
  const second = await address();
  assert.notEqual(second, first);
  assert.ok((await call(first)) >= 400, "the old address is worth nothing");
  assert.equal(Math.floor((await call(second)) / 100), 2);

  await settled(page);
  await card.getByRole("button", { name: "Delete" }).click();
  await press(page, "Delete");
  await told(page, "The hook was deleted");
  assert.ok((await call(second)) >= 400);
  await page.getByText("No hooks yet").waitFor();
  flawless(page);
  await page.context().close();
});

test("an old version becomes the newest again, with the code folder that it had", async () => {
  const { api } = site.there;
  const path = "/projects/default/pipelines/restored";
  const [first, second] = ["one", "two"].map((word) => document("restored", "{}", `echo, ${word}`));
  const code = await site.there.sendCode();
  await api("POST", "/projects/default/pipelines", { document: first });
  await api("PUT", path, { document: second, code: code.digest }, { "if-match": '"1"' });
  const page = await site.open({ as: "emil" });
  await page.goto(`${path}?tab=versions`);
  await settled(page);
  await page.locator('[data-restore="1"]').click();
  await press(page, "Restore");
  await told(page, "Version 1 was restored");
  const { body: restored } = await api("GET", path);
  assert.deepEqual([restored.version, restored.document, restored.code], [3, first, undefined]);

  await settled(page);
  await page.locator('[data-restore="2"]').click();
  await press(page, "Restore");
  await eventually(async () => {
    const { body } = await api("GET", path);
    assert.deepEqual([body.version, body.document, body.code], [4, second, code.digest]);
  });

  // On a concurrent save, nothing is restored over it.
  await told(page, "Version 2 was restored");
  await settled(page);
  const theirs = document("restored", "{}", "echo, theirs");
  await api("PUT", path, { document: theirs }, { "if-match": '"4"' });
  await page.locator('[data-restore="1"]').click();
  await press(page, "Restore");
  await told(page, "has changed: read it again");
  refused(page, 412);
  assert.equal((await api("GET", path)).body.document, theirs);
  flawless(page);
  await page.context().close();
});

test("a pipeline is deleted, unless somebody has changed it meanwhile", async () => {
  const { api } = site.there;
  const path = "/projects/default/pipelines/gone";
  await api("POST", "/projects/default/pipelines", { document: document("gone", "{}", '"true"') });
  const page = await site.open({ as: "emil" });
  const remove = async () => {
    await page.goto(path);
    await settled(page);
    await page.getByLabel("More", { exact: true }).click();
    await page.locator("#delete").click();
    await dialog(page).getByRole("textbox").fill("gone");
  };
  await remove();
  await api("PUT", path, { document: document("gone", "{}", '"false"') }, { "if-match": '"1"' });
  await press(page, "Delete pipeline");
  await told(page, "has changed: read it again");
  refused(page, 412);
  assert.equal((await api("GET", path)).body.version, 2, "it is still there");

  await remove();
  await press(page, "Delete pipeline");
  await page.waitForURL("**/projects/default/pipelines");
  await told(page, "deleted");
  await eventually(async () => assert.ok(!(await names(page)).includes("gone")));
  flawless(page);
  await page.context().close();
});
