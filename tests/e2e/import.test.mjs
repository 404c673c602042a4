// Files of another platform on the import page: read, told about, and their job templates installed.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { flawless, launch, open, session, settled } from "./support/browser.mjs";
import { root, Server } from "./support/server.mjs";

const file = (name) => join(root, "server/compiler/tests/documents/cube-studio", name);

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

async function imported(name) {
  const page = await open(browser, server, { state: await session(browser, server, name) });
  await page.goto("/projects/default/import");
  await settled(page);
  await page.locator("#f-file").setInputFiles(file("templates.json"));
  await page.getByRole("button", { name: "Read the files" }).click();
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
  await again.getByRole("row").filter({ hasText: "detector" }).first().getByText("there already").waitFor();
  flawless(again);
});

test("a template is installed from its file, and its mistakes are told", async () => {
  const page = await open(browser, server, { state: await session(browser, server, "ada") });
  await page.goto("/templates");
  await settled(page);
  const send = (name, text) => page.locator("#install-file").setInputFiles({ name, mimeType: "application/yaml", buffer: Buffer.from(text) });
  await send("wrong.yaml", "kind: TaskTemplate\n");
  await page.locator("#toasts").getByText(/apiVersion/).waitFor();
  // The browser notes the refusal that was asked for.
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
