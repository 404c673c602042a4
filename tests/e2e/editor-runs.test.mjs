// Runs on the canvas, and documents as files.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { flawless, look } from "./support/browser.mjs";
import { mistake, refused } from "./support/dialog.mjs";
import { dragTemplate, field, fillList, node, openEditor, problems } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(stage);

const PATH = "/projects/default/pipelines";
const more = (page) => page.locator(".ed-actions summary").first();

test("a failed task says on its node why, and in full above its log", async () => {
  const page = await openEditor(site, "emil", `${PATH}/brittle/edit#run/${site.there.broken}`);
  const cause = node(page, "breaks").locator(".cv-cause");
  await cause.waitFor();
  assert.match(await cause.getAttribute("title"), /exit code 3/);
  await page.locator("#task-after[data-state=upstream_failed]").waitFor();
  assert.equal(await node(page, "after").locator(".cv-cause").count(), 0, "the first cause is told once");
  await node(page, "breaks").click();
  await page.keyboard.press("l");
  await page.locator(".ed-cause", { hasText: "exit code 3" }).waitFor();
  await page.locator(".ed-drawer").getByText("no such file").first().waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await page.context().close();
});

/** A task whose attempts each wait for the test; the first one fails. */
const FLAKY = (gate) => `apiVersion: cubeloom/v1
kind: Pipeline
name: flaky
tasks:
  - name: tries
    template: command
    retry: {attempts: 2, backoff: {initial: 1s}}
    arguments:
      command:
        - sh
        - -c
        - |
          echo '{"progress": {"step": '$CUBELOOM_ATTEMPT', "total": 4}}' >> "$CUBELOOM_OUTPUTS"
          until test -e ${gate}-$CUBELOOM_ATTEMPT; do sleep 0.1; done
          test "$CUBELOOM_ATTEMPT" = 2
  - {name: parts, template: command, for_each: {list: [a, b]}, arguments: {command: ['true']}}
  - {name: after, template: command, needs: [tries, parts], arguments: {command: ['true']}}
`;

test("while it runs, a task says on its node how far it is, that it waits to try again, and how often it has tried", async () => {
  await site.there.api("POST", "/projects/default/pipelines", { document: FLAKY(site.server.path("gate")), message: "as it began" });
  const page = await openEditor(site, "emil", `${PATH}/flaky/edit`);
  const [live, bar] = [node(page, "tries").locator(".cv-live"), node(page, "tries").locator("progress")];
  const far = () => bar.evaluate(({ value, max }) => [value, max]);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  await eventually(async () => assert.deepEqual(await far(), [1, 4]));
  assert.equal(await node(page, "tries").getAttribute("data-state"), "running");
  assert.match(await node(page, "tries").getAttribute("aria-label"), /1\/4/);
  await live.locator("[data-since]").waitFor();
  assert.equal(await live.getByText("↻").count(), 0, "a first attempt is not counted");
  assert.deepEqual(await look(page, "en"), []);

  site.server.write("gate-1", "");
  await page.locator("#task-tries[data-state=backoff]").waitFor();
  await eventually(async () => assert.deepEqual(await far(), [2, 4]));
  await live.getByText("↻ 2").waitFor();
  site.server.write("gate-2", "");
  for (const task of ["tries", "after"]) await page.locator(`#task-${task}[data-state=succeeded]`).waitFor();
  await live.getByText("↻ 2").waitFor();
  await node(page, "parts").getByText("2/2", { exact: true }).waitFor();
  assert.doesNotMatch(await node(page, "parts").innerText(), /↻/, "the first attempts at several instances are no retries");
  assert.match(await live.locator(".number").innerText(), /\d/, "it says how long it took");
  flawless(page);
  await page.context().close();
});

test("a new pipeline is saved and run in one dialog, where a name that is taken is said at its field", async () => {
  for (const name of ["my-pipeline", "my-pipeline-2"]) {
    await site.there.api("POST", "/projects/default/pipelines", { document: FLAKY("nothing").replace("name: flaky", `name: ${name}`) });
  }
  const page = await openEditor(site, "emil", "/projects/default/new-pipeline/canvas");
  await dragTemplate(page, "command", 200, 160);
  await node(page, "command").click();
  await fillList(page, "/tasks/0/arguments/command", ["true"]);
  await problems(page, "good").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const dialog = page.getByRole("dialog");
  const name = dialog.getByLabel("Name", { exact: true });
  assert.equal(await name.inputValue(), "my-pipeline-3", "the first free name");
  await name.fill("count");
  await dialog.getByRole("button", { name: "Save and run" }).click();
  await mistake(dialog, "pipeline-name").getByText("The project already has a pipeline count").waitFor();
  assert.deepEqual((await look(page, "en", { dialog: true })).filter((fault) => !fault.includes("409")), []);
  await name.fill("chosen-here");
  await dialog.getByRole("button", { name: "Save and run" }).click();
  await page.locator("#task-command[data-state=succeeded]").waitFor({ timeout: 60_000 });
  assert.match(page.url(), /pipelines\/chosen-here\/edit#run\//);
  assert.equal((await site.there.api("GET", "/projects/default/pipelines/chosen-here")).body.version, 1);
  refused(page, 409);
  flawless(page);
  await page.context().close();
});

test("a known error is named instead of a run, and leads to its field", async () => {
  const large = FLAKY("nothing").replace("name: flaky", "name: large").replace("    template: command\n", "    template: command\n    resources: {memory: 500Gi}\n");
  await site.there.api("POST", "/projects/default/pipelines", { document: large });
  const page = await openEditor(site, "emil", `${PATH}/large/edit`);
  await problems(page, "error").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Fix the errors first" });
  assert.match(await dialog.locator(".callout.error").innerText(), /tries: [\s\S]*500/i);
  assert.deepEqual(await look(page, "en", { dialog: true }), []);
  await dialog.getByRole("button", { name: "Show error" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.closest('[data-pointer^="/tasks/0/resources"]') !== null);

  // Once it is fixed, the same button runs it.
  await field(page, "/tasks/0/resources/memory").getByRole("textbox").first().fill("64Mi");
  await problems(page, "error").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("dialog", { name: "Run large" }).getByText("there are unsaved changes").waitFor();
  flawless(page);
  await page.context().close();
});

test("a run is stopped from the canvas, and can be started again", async () => {
  await site.there.api("POST", "/projects/default/pipelines", { document: FLAKY(site.server.path("never")).replace("name: flaky", "name: stopped") });
  const page = await openEditor(site, "emil", `${PATH}/stopped/edit`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("#task-tries[data-state=running]").waitFor();
  await page.getByRole("button", { name: "Cancel run" }).click();
  for (const task of ["tries", "after"]) await page.locator(`#task-${task}[data-state=cancelled]`).waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Cancel run" }).count(), 0);
  flawless(page);
  await page.context().close();
});

test("from a task on: what comes before is taken over, what comes after is run", async () => {
  const page = await openEditor(site, "emil", `${PATH}/count/edit`);
  await node(page, "learn").click();
  await page.locator(".ed-actions summary").last().click();
  await page.getByRole("button", { name: "Run from learn" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  for (const task of ["learn", "judge"]) await page.locator(`#task-${task}[data-state=succeeded]`).waitFor({ timeout: 60_000 });
  await page.locator("#task-prepare[data-state=reused]").waitFor();
  flawless(page);
  await page.context().close();
});

test("a pipeline is taken along as YAML or JSON, and opened from a file in one step", async () => {
  const page = await openEditor(site, "emil", `${PATH}/count/edit`);
  const download = async (name) => {
    await more(page).click();
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name }).click();
    const file = await coming;
    return [file.suggestedFilename(), readFileSync(await file.path(), "utf8")];
  };
  const [yaml, text] = await download("Download as YAML");
  assert.equal(yaml, "count.yaml");
  assert.match(text, /^kind: Pipeline$/m);
  const [json, data] = await download("Download as JSON");
  assert.equal(json, "count.json");
  const document = JSON.parse(data);
  assert.deepEqual(document.tasks.map(({ name }) => name), ["prepare", "learn", "judge"]);

  document.tasks.push({ name: "extra", template: "command", arguments: { command: ["true"] }, needs: ["judge"] });
  await more(page).click();
  const asked = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Open file (YAML or JSON)" }).click();
  await (await asked).setFiles({ name: "count.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(document)) });
  await node(page, "extra").waitFor();
  await page.locator(".ed-steps button").first().click();
  await eventually(async () => assert.equal(await node(page, "extra").count(), 0));
  await eventually(async () => assert.equal(await page.locator(".cv-task").count(), 3));
  flawless(page);
  await page.context().close();
});
