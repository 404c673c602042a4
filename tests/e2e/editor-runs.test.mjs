// Runs on the canvas, and documents as files.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { flawless, launch, look, session } from "./support/browser.mjs";
import { node, openEditor } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { Server } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";

let server;
let browser;
let there;
let state;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  there = await stage(server);
  state = await session(browser, server, "emil");
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const PATH = "/projects/default/pipelines";
const more = (page) => page.locator(".ed-actions summary").first();

test("a failed task says on its node why, and in full above its log", async () => {
  const page = await openEditor(browser, server, state, `${PATH}/brittle/edit#run/${there.broken}`);
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

test("from a task on: what comes before is taken over, what comes after is run", async () => {
  const page = await openEditor(browser, server, state, `${PATH}/count/edit`);
  await node(page, "learn").click();
  await page.locator(".ed-actions summary").last().click();
  await page.getByRole("button", { name: "Run from learn on" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  for (const task of ["learn", "judge"]) await page.locator(`#task-${task}[data-state=succeeded]`).waitFor({ timeout: 60_000 });
  await page.locator("#task-prepare[data-state=reused]").waitFor();
  flawless(page);
  await page.context().close();
});

test("a pipeline is taken along as YAML or JSON, and opened from a file in one step", async () => {
  const page = await openEditor(browser, server, state, `${PATH}/count/edit`);
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
  await page.getByRole("button", { name: "Open a file (YAML or JSON)" }).click();
  await (await asked).setFiles({ name: "count.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(document)) });
  await node(page, "extra").waitFor();
  await page.locator(".ed-steps button").first().click();
  await eventually(async () => assert.equal(await node(page, "extra").count(), 0));
  await eventually(async () => assert.equal(await page.locator(".cv-task").count(), 3));
  flawless(page);
  await page.context().close();
});
