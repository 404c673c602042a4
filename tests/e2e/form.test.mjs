// The editor's form: fields from a schema, expressions, links from problems to fields, editing several tasks
// at once.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { flawless, look, open, session, settled } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { Server, until } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: digits
parameters:
  rounds: {type: integer, default: 60}   # how long it learns
tasks:
  - name: split
    template: python
    arguments: {script: split.py, args: ["--seed", 7]}
    outputs: [parts]
  - name: train
    template: xgboost
    needs: [split]
    arguments: {data: "{{ run.dir }}/*.npz", model: m.json, label: "{{ tasks.split.outputs.parts }}"}
  - name: report
    template: command
    needs: [train]
    arguments: {command: [echo, done]}
`;

/** A template whose arguments are in groups, one of which must be chosen. */
const GROUPED = `
apiVersion: cubeloom/v1
kind: TaskTemplate
name: grouped
version: "1.0.0"
group: basics
label: {en: Grouped, zh: 分组}
help: {en: Has groups., zh: 有分组。}
framework: single
parameters:
  type: object
  additionalProperties: false
  properties:
    mode: {type: string, enum: [fast, exact], default: fast, title: Mode, x-form: {order: 1}}
    depth: {type: integer, default: 3, title: Depth, x-form: {order: 2, group: Tuning}}
    rate: {type: number, default: 0.1, title: Rate, x-form: {order: 3, group: Tuning}}
roles: [{name: worker, replicas: 1, resources: {cpu: "1", memory: 64Mi}}]
command: [echo, "{{ args.mode }}", "{{ args.depth }}", "{{ args.rate }}"]
`;
const CHOOSING = `apiVersion: cubeloom/v1
kind: Pipeline
name: choosing
tasks:
  - {name: choose, template: grouped}
`;

const NAMING = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: naming\ntasks:\n  - {name: one, template: python}\n  - {name: other, template: command, needs: [one], arguments: {command: ['true']}}\n";

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  await api("POST", "/projects/default/pipelines", { document: DOCUMENT, message: "as it began" });
  await api("POST", "/templates", { document: GROUPED });
  await api("POST", "/projects/default/pipelines", { document: CHOOSING });
  await api("POST", "/projects/default/pipelines", { document: NAMING });
  const bytes = { "content-type": "application/octet-stream" };
  await api("PUT", "/projects/default/volumes/workspace/file?path=models/old/m1.json", "{}", bytes);
  await api("POST", "/projects/default/secrets", { name: "api-token", value: "abcdefgh" });
});

/** The editor, with a task selected. */
async function editor(task, { pipeline = "digits", ...options } = {}) {
  const page = await site.open({ as: "ada", ...options });
  await page.goto(`/projects/default/pipelines/${pipeline}/edit`);
  await settled(page);
  if (task) await select(page, task);
  return page;
}

async function select(page, task, modifiers = []) {
  await page.locator(`#task-${task}`).click({ modifiers });
  if (modifiers.length === 0) await page.getByLabel("Task", { exact: true }).waitFor();
}

const form = (page) => page.locator(".task-form");
const part = (page, name) => form(page).locator(`[data-fold="${name}"]`);
const unfold = async (page, name) => {
  const button = part(page, name).locator(".fold-head button");
  if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
};

/** The document's text, from the text view. */
async function text(page) {
  await page.locator("button[data-look=text]").click();
  const lines = page.locator(".ed-text .cm-line");
  await until("the text", async () => (await lines.count()) > 5);
  const written = (await lines.allTextContents()).join("\n");
  await page.locator("button[data-look=canvas]").click();
  return written;
}

test("a field is typed into, in the middle too, and undone in one step", async () => {
  const page = await editor("train");
  const model = form(page).getByLabel(/^Model file/);
  await model.focus();
  await page.keyboard.press("Home");
  const answered = page.waitForResponse((response) => response.url().endsWith("/validate"));
  await page.keyboard.type("my-", { delay: 20 });
  await eventually(async () => assert.equal(await model.inputValue(), "my-m.json"));
  await eventually(async () => assert.equal(await model.evaluate((input) => input.selectionStart), 3, "the caret stays where it is typed"));
  // The server's response arrives meanwhile, and overwrites nothing.
  await answered;
  await eventually(async () => assert.ok(await model.evaluate((input) => input === document.activeElement)));
  // A value equal to the default is not written: the field shows it as a placeholder.
  const rounds = form(page).getByLabel("Rounds", { exact: true });
  await eventually(async () => assert.equal(await rounds.getAttribute("placeholder"), "100"));
  await rounds.fill("100");
  await page.keyboard.press("Tab");
  assert.doesNotMatch(await text(page), /rounds: 100/);
  await eventually(async () => assert.match(await text(page), /model: my-m\.json/));
  await eventually(async () => assert.match(await text(page), /# how long it learns/, "comments stay"));
  await page.locator(".ed-steps button").first().click();
  await eventually(async () => assert.equal(await model.inputValue(), "m.json"));
  flawless(page);
  await page.context().close();
});

test("a file is chosen from the project's shared folder, folder by folder", async () => {
  const page = await editor("split");
  await form(page).getByRole("button", { name: "Choose file: Script" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The pipeline has no code folder yet").waitFor();
  await dialog.getByLabel("File location").selectOption("workspace");
  await dialog.getByRole("button", { name: "models" }).click();
  await dialog.getByRole("button", { name: /^old/ }).click();
  await dialog.getByRole("button", { name: "Parent folder" }).click();
  await dialog.getByRole("button", { name: /^old/ }).click();
  await dialog.getByRole("searchbox").fill("m1");
  assert.deepEqual(await look(page, "en"), []);
  await dialog.getByRole("button", { name: /^m1\.json/ }).click();
  await dialog.waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await form(page).locator("[data-pointer='/tasks/0/arguments/script'] input").inputValue(), "{{ workspace }}/models/old/m1.json"));
  flawless(page);
  await page.context().close();
});

test("inside of braces names are completed, with the keyboard", async () => {
  const page = await editor("train");
  const validation = form(page).getByLabel("Validation data", { exact: true });
  await validation.focus();
  await page.keyboard.type("{{ par");
  const list = page.getByRole("listbox");
  await list.waitFor();
  await eventually(async () => assert.deepEqual(await list.getByRole("option").locator(".mono").allTextContents(), ["params.rounds", "tasks.split.outputs.parts"]));
  await eventually(async () => assert.equal(await validation.getAttribute("aria-expanded"), "true"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await list.waitFor({ state: "hidden" });
  await page.keyboard.type(" }}");
  await eventually(async () => assert.equal(await validation.inputValue(), "{{ tasks.split.outputs.parts }}"));
  await eventually(async () => assert.equal(await validation.getAttribute("data-expression"), "", "an expression has a colour of its own"));
  flawless(page);
  await page.context().close();
});

test("a mistake is told at its field, and the list of all leads back to it", async () => {
  const page = await editor("train");
  const rounds = form(page).getByLabel("Rounds", { exact: true });
  await rounds.fill("0");
  await form(page).getByText("Must be at least 1.").waitFor();
  await eventually(async () => assert.equal(await rounds.getAttribute("aria-invalid"), "true"));
  await unfold(page, "resources");
  const cpu = part(page, "resources").getByLabel("CPU", { exact: true });
  await cpu.fill("2x");
  await part(page, "resources").getByText(/Invalid CPU amount/).waitFor();
  await unfold(page, "failure");
  await part(page, "failure").getByLabel("Timeout", { exact: true }).fill("5 parsecs");
  await page.locator("#task-split").click();
  await page.locator(".ed-problems summary").click();
  const rows = page.locator(".ed-problem-panel .problem-item");
  await until("three problems", async () => (await rows.count()) >= 3);
  await rows.filter({ hasText: "resources" }).first().click();
  await until("the field to have the focus", () => page.evaluate(() => document.activeElement?.value === "2x"));
  await eventually(async () => assert.equal(await form(page).getByLabel("Task", { exact: true }).inputValue(), "train"));
  flawless(page);
  await page.context().close();
});

test("another name goes wherever the old one stood", async () => {
  const page = await editor("split");
  const name = form(page).getByLabel("Task", { exact: true });
  await name.fill("My Task");
  await form(page).getByText(/Use lower-case letters/).waitFor();
  await name.fill("train");
  await form(page).getByText("train is taken").waitFor();
  await name.fill("divide");
  await page.keyboard.press("Enter");
  await page.locator("#task-divide").waitFor();
  await until("the focus to stay", () => page.evaluate(() => document.activeElement?.value === "divide"));
  const written = await text(page);
  assert.match(written, /needs: \[divide\]/);
  assert.match(written, /tasks\.divide\.outputs\.parts/);
  flawless(page);
  await page.context().close();
});

test("a choice that is still empty stays when its task is renamed, and Tab goes on to the next field", async () => {
  const page = await editor("one", { pipeline: "naming" });
  const code = form(page).getByRole("button", { name: "Code", exact: true });
  await code.click();
  await eventually(async () => assert.equal(await code.getAttribute("aria-pressed"), "true"));
  await form(page).getByLabel("Task", { exact: true }).fill("renamed");
  await page.keyboard.press("Tab");
  await page.locator("#task-renamed").waitFor();
  assert.equal(await code.getAttribute("aria-pressed"), "true");
  assert.ok(await page.evaluate(() => document.activeElement?.closest(".task-form") !== null));
  // Another task has its own form.
  await select(page, "other");
  await select(page, "renamed");
  assert.equal(await code.getAttribute("aria-pressed"), "false");
  flawless(page);
  await page.context().close();
});

test("a list is written with the keyboard: Enter adds, Alt with an arrow moves, Backspace takes away", async () => {
  const page = await editor("report");
  const list = form(page).locator("[data-pointer='/tasks/2/arguments/command']");
  const values = () => list.locator("input").evaluateAll((inputs) => inputs.map((input) => input.value));
  await list.locator("input").first().focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("-n");
  await eventually(async () => assert.deepEqual(await values(), ["echo", "-n", "done"]));
  await page.keyboard.press("Alt+ArrowDown");
  await eventually(async () => assert.deepEqual(await values(), ["echo", "done", "-n"]));
  await eventually(async () => assert.ok(await list.locator("input").nth(2).evaluate((input) => input === document.activeElement), "the focus goes with it"));
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  await eventually(async () => assert.deepEqual(await values(), ["echo", "done"]));
  flawless(page);
  await page.context().close();
});

test("another template takes the arguments that fit, and says which do not", async () => {
  const page = await editor("split");
  await form(page).getByLabel("Template", { exact: true }).selectOption("pytorch");
  await eventually(async () => assert.equal(await form(page).getByLabel(/^Script/).inputValue(), "split.py"));
  await form(page).getByLabel("Template", { exact: true }).selectOption("command");
  await form(page).getByText(/were removed: script, args/).waitFor();
  flawless(page);
  await page.context().close();
});

test("a task of an older version has that version's form, and is told what the newest changes", async () => {
  const folder = mkdtempSync(join(site.server.folder, "templates-"));
  const own = new URL("../../task-templates/command/", import.meta.url);
  cpSync(own, join(folder, "command"), { recursive: true });
  const second = await Server.start({ CUBELOOM_SERVER_TEMPLATES: folder });
  try {
    await second.kill();
    const file = join(folder, "command", "template.yaml");
    const newer = readFileSync(file, "utf8").replace('version: "1.0.0"', 'version: "1.1.0"').replace("\nroles:", "\n    stdin:\n      type: string\n      default: ''\n      title: Input\n      x-form: {order: 2}\nroles:");
    writeFileSync(file, newer);
    await second.run();
    second.user("ada", "--admin");
    const tasks = "  - {name: old, template: command@1.0.0, arguments: {command: [a]}}\n  - {name: new, template: command, arguments: {command: [a]}}\n";
    await second.api(second.token("ada"))("POST", "/projects/default/pipelines", { document: `apiVersion: cubeloom/v1\nkind: Pipeline\nname: aged\ntasks:\n${tasks}` });
    const page = await open(site.browser, second, { state: await session(site.browser, second, "ada") });
    await page.goto("/projects/default/pipelines/aged/edit");
    await settled(page);
    await select(page, "new");
    await form(page).locator("[data-pointer='/tasks/1/arguments/stdin']").waitFor();
    assert.equal(await form(page).locator(".form-update").count(), 0);
    await select(page, "old");
    await form(page).locator("[data-pointer='/tasks/0/arguments/command']").waitFor();
    assert.equal(await form(page).locator("[data-pointer='/tasks/0/arguments/stdin']").count(), 0);
    await form(page).getByText("Version 1.1.0 is available").click();
    assert.match(await form(page).locator(".form-update dl").innerText(), /New arguments\s+stdin/);
    assert.deepEqual(await look(page, "en"), []);
    await form(page).getByRole("button", { name: "Update task" }).click();
    await form(page).locator("[data-pointer='/tasks/0/arguments/stdin']").waitFor();
    await form(page).locator(".form-update").waitFor({ state: "detached" });
    assert.match(await text(page), /command@1\.1\.0/);
    flawless(page);
    await page.context().close();
  } finally {
    await second.stop();
  }
});

test("arguments come in the groups of their template, an enum is a choice, and what no node has is told", async () => {
  const page = await editor("choose", { pipeline: "choosing" });
  const tuning = form(page).getByRole("group", { name: "Tuning" });
  await tuning.getByRole("heading", { name: "Tuning" }).waitFor();
  assert.deepEqual(await tuning.locator("[data-pointer]").evaluateAll((all) => all.map((one) => one.dataset.pointer)), ["/tasks/0/arguments/depth", "/tasks/0/arguments/rate"]);
  const mode = form(page).getByLabel("Mode", { exact: true });
  assert.equal(await tuning.getByLabel("Mode", { exact: true }).count(), 0);
  assert.deepEqual((await mode.locator("option").allInnerTexts()).filter((one) => /^(fast|exact)$/.test(one)), ["fast", "exact"]);
  await mode.selectOption("exact");
  await eventually(async () => assert.match(await text(page), /mode: exact/));

  await unfold(page, "resources");
  const resources = part(page, "resources");
  await resources.getByText("of 8 cores on the largest node").waitFor();
  const cpu = resources.getByLabel("CPU", { exact: true });
  await cpu.fill("8");
  const refused = resources.getByText("More than any node has: the task could never start.");
  assert.equal(await refused.count(), 0);
  await cpu.fill("9");
  await refused.waitFor();
  await eventually(async () => assert.equal(await cpu.getAttribute("aria-invalid"), "true"));
  flawless(page);
  await page.context().close();
});

test("in Chinese the arguments have Chinese titles and help", async () => {
  const page = await editor(null, { lang: "zh" });
  await page.locator("#task-split").click();
  await form(page).locator("[data-pointer='/tasks/0/arguments/script']").getByText("脚本").first().waitFor();
  await form(page).getByText("程序在 sys.argv[1:] 中得到的内容。").waitFor();
  await page.goto("/templates/python");
  await page.locator("main").getByText("流水线文件夹中的一个 Python 文件。").first().waitFor();
  flawless(page);
  await page.context().close();
});

test("several tasks are changed at once", async () => {
  const page = await editor("split");
  await select(page, "report", ["Control"]);
  await form(page).getByRole("heading", { name: "2 tasks" }).waitFor();
  await unfold(page, "resources");
  await part(page, "resources").getByLabel("Memory", { exact: true }).fill("2Gi");
  await eventually(async () => assert.equal((await text(page)).match(/memory: 2Gi/g)?.length, 2));
  flawless(page);
  await page.context().close();
});

test("without a selection the form is the pipeline's", async () => {
  const page = await editor(null);
  const adding = form(page).getByLabel("New parameter");
  await adding.fill("day");
  await page.keyboard.press("Enter");
  await form(page).getByLabel("Type of day").selectOption("date");
  await eventually(async () => assert.match(await text(page), /day:\s*\{?\s*type: date/));
  flawless(page);
  await page.context().close();
});

test("every part is legible, light and dark, wide and narrow, in both languages", async () => {
  for (const options of [{ theme: "dark" }, { lang: "zh" }, { size: "narrow" }]) {
    const page = await editor(null, options);
    await page.locator("#task-train").click();
    // On a narrow screen the form is a sheet.
    if (options.size) await page.locator(".ed-panels button").first().click();
    await form(page).waitFor();
    const folded = form(page).locator(".fold-head button[aria-expanded=false]");
    while ((await folded.count()) > 0) await folded.first().click();
    assert.deepEqual(await look(page, options.lang ?? "en"), []);
    flawless(page);
    await page.context().close();
  }
});
