// Import of another platform's files: parsing, messages, and installing their job templates.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { ready } from "./support/editor.mjs";
import { root } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";

const file = (name) => join(root, "server/compiler/tests/documents/cube-studio", name);

const site = siteFor((server) => {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
});

/** The pipelines file, with each pipeline twice. */
function twice() {
  const pipelines = Object.entries(JSON.parse(readFileSync(file("pipelines.json"), "utf8")));
  const again = pipelines.map(([key, { pipeline, ...rest }]) => [`${key}-2`, { ...rest, pipeline: { ...pipeline, name: `${key}-2` } }]);
  return { name: "twice.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(Object.fromEntries([...pipelines, ...again]))) };
}

async function imported(name, read = file("templates.json"), options = {}) {
  const page = await site.open({ as: name, ...options });
  await page.goto("/projects/default/import");
  await settled(page);
  await page.locator("#f-file").setInputFiles(read);
  await page.getByRole("button", { name: "Read files" }).click();
  await page.getByRole("heading", { name: "Documents" }).waitFor();
  return page;
}

test("an administrator installs a job template, and an editor only downloads it", async () => {
  const editor = await imported("emil");
  await editor.getByRole("link", { name: "Download detector" }).waitFor();
  assert.equal(await editor.getByRole("button", { name: /^Install/ }).count(), 0);
  flawless(editor);
  const admin = await imported("ada");
  await admin.getByRole("button", { name: "Install the task template detector for every project" }).click();
  const row = admin.getByRole("row").filter({ hasText: "detector" }).first();
  await row.getByRole("link", { name: "Open" }).click();
  await admin.waitForURL("**/templates/detector");
  await admin.getByRole("heading", { name: "detector" }).first().waitFor();
  const again = await imported("ada");
  await again.getByRole("row").filter({ hasText: "detector" }).first().getByText("already exists").waitFor();
  flawless(again);
});

test("an imported pipeline is saved and opens in the editor, each task where it lay", async () => {
  const page = await imported("emil", file("pipelines.json"));
  await page.getByRole("button", { name: "Save and open images" }).click();
  await page.waitForURL("**/pipelines/images/edit");
  await ready(page);
  const { document } = (await site.server.api(site.server.token("emil"))("GET", "/projects/default/pipelines/images")).body;
  const names = [...document.matchAll(/^ {2}- name: (\S+)/gm)].map(([, name]) => name);
  assert.equal(names.length, 3);
  const nodes = await page.locator(".cv-task").evaluateAll((all) => Object.fromEntries(all.map((one) => [one.id.slice("task-".length), [one.parentElement.style.left, one.parentElement.style.top]])));
  assert.deepEqual(Object.keys(nodes).sort(), names.sort());
  // As in the file: { x: 100, y: 20.4 } and { x: 100, y: 140 }.
  assert.deepEqual(nodes.pull, ["100px", "20px"]);
  assert.ok(Object.values(nodes).some(([x, y]) => x === "100px" && y === "140px"), JSON.stringify(nodes));
  flawless(page);
});

test("what was not carried over is said once for all its places, and can be read on a narrow screen", async () => {
  for (const options of [{}, { size: "narrow", theme: "dark" }]) {
    const page = await imported("emil", twice(), options);
    const rows = page.locator("section", { hasText: "Changed or left out" }).locator("tbody tr");
    const words = await rows.evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].slice(0, 2).map((cell) => cell.textContent).join(": ")));
    assert.ok(words.length > 3);
    assert.equal(new Set(words).size, words.length, "no sentence stands there twice");
    assert.ok((await rows.locator("code[role=listitem]").count()) > words.length, "some are about several places");
    assert.deepEqual(await look(page, "en"), []);
    await page.context().close();
  }
});

test("a template is installed from its file, and its mistakes are told", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/templates");
  await settled(page);
  const send = (name, text) => page.locator("#install-file").setInputFiles({ name, mimeType: "application/yaml", buffer: Buffer.from(text) });
  await send("wrong.yaml", "kind: TaskTemplate\n");
  await page.locator("#toasts").getByText(/apiVersion/).waitFor();
  // The browser logs the expected refusal.
  assert.match(page.faults.splice(0).join(" "), /status of 422/);
  await send("say.yaml", [
    "apiVersion: cubeloom/v1", "kind: TaskTemplate", "name: say", 'version: "1.0.0"', "group: basics", "label: {en: Say, zh: 说}",
    "help: {en: Says it., zh: 说出来。}", "framework: single", "parameters: {type: object, additionalProperties: false, properties: {}}",
    "roles: [{name: worker, replicas: 1}]", "command: [echo, hello]",
  ].join("\n"));
  await page.waitForURL("**/templates/say");
  await page.locator("#toasts").getByText("say is installed").waitFor();
  flawless(page);
});
