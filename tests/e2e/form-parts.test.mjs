// The folded sections of a task's form: their values are written to the document's text, and read back from
// it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless } from "./support/browser.mjs";
import { fillList, node, openEditor } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: parts
tasks:
  - name: work
    template: command
    arguments: {command: ["true"]}
`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "owner");
  const api = server.api(server.token("emil"));
  await api("POST", "/projects/default/pipelines", { document: DOCUMENT });
  await api("POST", "/projects/default/secrets", { name: "hub-key", value: "a value of its own" });
  await api("POST", "/projects/default/volumes", { name: "sets", place: { kind: "workspace", path: "sets" } });
  return { api };
});

const part = (page, name) => page.locator(`.task-form [data-fold="${name}"]`);

async function unfold(page, name) {
  const button = part(page, name).locator(".fold-head button");
  if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
  return part(page, name);
}

/** The document's text, from the text view. */
async function text(page) {
  await page.locator("button[data-look=text]").click();
  const lines = page.locator(".ed-text .cm-line");
  await eventually(async () => assert.ok((await lines.count()) > 5));
  const written = (await lines.allTextContents()).join("\n");
  await page.locator("button[data-look=canvas]").click();
  return written;
}

/** Adds a key to a mapping field, and sets its value. */
async function name(field, title, key, value) {
  await field.getByRole("button", { name: new RegExp(`^Add\\s*: ${title}$`) }).click();
  await field.getByLabel(`New name in ${title}`).fill(key);
  await field.page().keyboard.press("Enter");
  await field.getByLabel(key, { exact: true }).fill(value);
}

test("retries, elements, placement, variables, secrets and volumes are set, read as text, saved, and shown again", async () => {
  const page = await openEditor(site, "emil", "/projects/default/pipelines/parts/edit");
  await node(page, "work").click();
  const failure = await unfold(page, "failure");
  await failure.getByLabel("Max attempts", { exact: true }).fill("3");
  await failure.getByLabel("Timeout", { exact: true }).fill("5m");
  await failure.getByLabel("Initial backoff", { exact: true }).fill("2s");
  await failure.getByLabel("Backoff factor", { exact: true }).fill("1.5");
  await failure.getByLabel("timeout", { exact: true }).check();

  const repeat = await unfold(page, "repeat");
  await repeat.getByRole("button", { name: "List", exact: true }).click();
  await fillList(page, "/tasks/0/for_each/list", ["north", "south"]);
  await repeat.getByLabel("Max concurrency", { exact: true }).fill("1");
  await repeat.getByText("2 instances").waitFor();

  const placement = await unfold(page, "placement");
  await placement.getByLabel("Priority", { exact: true }).fill("7");
  await placement.getByLabel("Anti-affinity", { exact: true }).selectOption({ label: "required" });
  await name(placement, "Node labels", "disk", "fast");

  const environment = await unfold(page, "environment");
  await name(environment, "Variables", "MODE", "quick");
  await environment.getByLabel("Secrets", { exact: true }).fill("hub");
  await page.keyboard.press("Enter");
  await environment.getByLabel("How hub-key is provided").selectOption({ label: "as file named…" });
  await environment.getByLabel("as file named…", { exact: true }).fill("key.txt");
  await environment.getByLabel("Volumes", { exact: true }).fill("set");
  await page.keyboard.press("Enter");
  await environment.getByLabel("read-only", { exact: true }).check();

  await eventually(async () => {
    const written = await text(page);
    for (const line of [/attempts: 3/, /timeout: 5m/, /initial: 2s/, /factor: 1\.5/, /timeout[,\]\n]/, /parallelism: 1/, /priority: 7/, /spread: required/, /disk: fast/, /MODE: quick/, /hub-key/, /file: key\.txt/, /sets/, /read_only: true/]) {
      assert.match(written, line);
    }
    assert.match(written, /list:\s*(\[north, south\]|- north\s+- south)/);
  });
  assert.equal(await page.locator(".ed-problems summary[data-kind=error]").count(), 0);

  await page.keyboard.press("Control+s");
  await page.getByRole("dialog").getByRole("textbox").fill("all parts");
  await page.keyboard.press("Enter");
  await page.locator(".ed-saved:not([data-dirty])").waitFor({ state: "attached" });
  const { document } = (await site.there.api("GET", "/projects/default/pipelines/parts")).body;
  assert.match(document, /MODE: quick/);
  await page.reload();
  await node(page, "work").click();
  assert.equal(await (await unfold(page, "failure")).getByLabel("Max attempts", { exact: true }).inputValue(), "3");
  assert.ok(await part(page, "failure").getByLabel("timeout", { exact: true }).isChecked());
  assert.equal(await (await unfold(page, "environment")).getByLabel("as file named…", { exact: true }).inputValue(), "key.txt");
  assert.ok(await part(page, "environment").getByLabel("read-only", { exact: true }).isChecked());

  // Emptied fields are removed from the text.
  await page.getByRole("button", { name: "Remove hub-key" }).click();
  await (await unfold(page, "repeat")).getByRole("button", { name: "None", exact: true }).click();
  await part(page, "failure").getByLabel("Timeout", { exact: true }).fill("");
  await eventually(async () => {
    const written = await text(page);
    assert.doesNotMatch(written, /hub-key|for_each|timeout: 5m/);
    assert.match(written, /attempts: 3/);
  });
  flawless(page);
  await page.context().close();
});

test("elements come from combinations, or from what an earlier task reports", async () => {
  const page = await openEditor(site, "emil", "/projects/default/pipelines/parts/edit");
  await node(page, "work").click();
  const repeat = await unfold(page, "repeat");
  await repeat.getByRole("button", { name: "Matrix", exact: true }).click();
  const values = repeat.locator("[data-pointer='/tasks/0/for_each/matrix']");
  for (const [key, elements] of [["rate", ["0.1", "0.2"]], ["depth", ["3", "4", "5"]]]) {
    await values.getByRole("button", { name: /^Add\s*: Values$/ }).click();
    await values.getByLabel("New name in Values").fill(key);
    await page.keyboard.press("Enter");
    await fillList(page, `/tasks/0/for_each/matrix/${key}`, elements);
  }
  await repeat.getByText("6 instances").waitFor();
  await eventually(async () => assert.match(await text(page), /rate:\s*(\[0\.1, 0\.2\]|- 0\.1)/));

  await repeat.getByRole("button", { name: "Output", exact: true }).click();
  await repeat.getByLabel(/^List from an upstream output/).fill("tasks.nobody.outputs.files");
  await repeat.locator(".field-error").waitFor();
  await eventually(async () => assert.match(await text(page), /from: tasks\.nobody\.outputs\.files/));
  assert.doesNotMatch(await text(page), /matrix/);
  flawless(page);
  await page.context().close();
});
