// The editor for a new user: with the mouse, and then with the keyboard alone.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { answerMessage, connect, dragTemplate, field, fillList, node, openEditor, problems, ready, save } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(stage);

const stored = async (name) => (await site.there.api("GET", `/projects/default/pipelines/${name}`)).body;

test("a first pipeline with the mouse: drawn, mended, run, watched, and taken back", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/default/pipelines");
  await settled(page);
  await page.getByRole("link", { name: "New pipeline" }).first().click();
  await page.waitForURL(/new-pipeline\/canvas/);
  await ready(page);
  await field(page, "/name").getByRole("textbox").fill("first");

  await dragTemplate(page, "command", 150, 120);
  await dragTemplate(page, "python", 450, 240);
  await dragTemplate(page, "command", 650, 420);
  await connect(page, "command", "python");
  await connect(page, "python", "command-2");

  // Missing values are reported before anything runs.
  await problems(page, "error").waitFor();
  await node(page, "command").click();
  await fillList(page, "/tasks/0/arguments/command", ["echo", "hello from the canvas"]);
  await node(page, "python").click();
  await page.locator(".ed-right").getByRole("button", { name: "Code", exact: true }).click();
  await field(page, "/tasks/1/arguments/code").getByRole("textbox").first().fill("print('learned')");
  await node(page, "command-2").locator(".cv-problem").waitFor();
  await problems(page, "error").click();
  await page.locator(".ed-problem-panel").getByRole("button").first().click();
  await page.waitForFunction(() => document.activeElement?.closest('[data-pointer^="/tasks/2"]') !== null);
  // It waits for a file.
  const go = join(site.server.folder, "go");
  await fillList(page, "/tasks/2/arguments/command", ["sh", "-c", `until [ -e ${go} ]; do sleep 0.3; done`]);
  await problems(page, "good").waitFor();

  // One dialog saves it and starts the run.
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const starting = page.getByRole("dialog", { name: "Run first" });
  assert.equal(await starting.getByLabel("Name", { exact: true }).inputValue(), "first");
  await starting.getByLabel("Message", { exact: true }).fill("my first");
  assert.deepEqual(await look(page, "en", { dialog: true }), []);
  await starting.getByRole("button", { name: "Save and run" }).click();
  const shows = (task, word) => page.locator(`#task-${task}[data-state=${word}]`).waitFor({ timeout: 60_000 });
  for (const task of ["command", "python"]) await shows(task, "succeeded");
  await shows("command-2", "running");
  // A timer counts while it runs, and the final duration replaces it.
  const took = node(page, "command-2").locator(".number");
  await eventually(async () => assert.match(await took.innerText(), /^\d+(\.\d)? s$/));
  site.server.write("go", "");
  await shows("command-2", "succeeded");
  assert.match(await took.innerText(), /^\d+(\.\d)? s$/);
  assert.match(page.url(), /pipelines\/first\/edit#run\//);

  await node(page, "command").click();
  await page.keyboard.press("l");
  await page.locator(".ed-drawer").getByText("hello from the canvas").waitFor();
  await page.locator(".ed-drawer").getByRole("button", { name: "Close" }).click();

  // Reruns one task on the outputs of the previous run.
  await node(page, "command-2").click();
  await page.locator(".ed-actions summary").last().click();
  await page.getByRole("button", { name: "Run only command-2" }).click();
  const earlier = page.url().split("#run/")[1];
  const choice = page.getByRole("dialog").getByLabel("Upstream results");
  assert.match(await choice.locator("option").first().innerText(), /newest run/);
  assert.match(await choice.locator("option").nth(1).innerText(), new RegExp(`${earlier.slice(-8)} · .+ · succeeded`, "i"));
  await choice.selectOption(earlier);
  // Read before the click: the URL may have changed when the click has returned.
  const whole = page.url();
  await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForFunction((before) => location.href !== before, whole);
  await shows("command-2", "succeeded");
  const part = await page.context().newPage();
  await part.goto(`/runs/${page.url().split("#run/")[1]}`);
  assert.match(await part.locator(".run-part").innerText(), /only command-2/);
  assert.equal(await part.locator(".run-part a").getAttribute("href"), `/runs/${earlier}`);
  await part.close();

  await page.locator(".ed-actions summary").first().click();
  const file = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download as Argo Workflow" }).click();
  assert.equal((await file).suggestedFilename(), "first.argo.yaml");
  await page.getByRole("dialog").getByText("first.argo.yaml is downloaded").waitFor();
  await page.getByRole("dialog").locator("li, p").first().waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();

  await field(page, "/tasks/2/arguments/command/2").locator("input").fill("sleep 0.4");
  await save(page, "sleeps longer");
  await page.getByRole("button", { name: "Versions" }).click();
  await page.locator(".ed-version", { hasText: "Version 1" }).locator(".ed-version-head").click();
  await page.locator("#task-command-2[data-difference=changed]").waitFor();
  await page.locator(".ed-changes").getByText("0.3").first().waitFor();
  await page.getByRole("button", { name: "Restore this version" }).click();
  await save(page, "as it was");
  const { version, document } = await stored("first");
  assert.equal(version, 3);
  assert.match(document, /0\.3/);
  assert.doesNotMatch(document, /0\.4/);
  flawless(page);
});

/** Presses Tab until an element with this name has the focus. */
async function reach(page, name, key = "Tab", most = 80) {
  for (let i = 0; i < most; i += 1) {
    const at = await page.evaluate(() => (document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "").trim());
    if (name.test(at)) return;
    await page.keyboard.press(key);
  }
  assert.fail(`${key} does not reach ${name}`);
}

test("the same with the keyboard alone", async () => {
  const page = await openEditor(site, "emil", "/projects/default/new-pipeline/canvas");
  await reach(page, /^Canvas of the pipeline/);
  const add = async (words) => {
    await page.keyboard.press("/");
    await page.getByRole("dialog").getByRole("combobox").waitFor();
    await page.keyboard.type("command");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.matches(".cv-stage"));
    // Enter opens the form, Escape returns.
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.closest(".ed-right") !== null);
    await reach(page, /^Add.*: Command/);
    await page.keyboard.press("Enter");
    for (const [at, word] of words.entries()) {
      if (at > 0) await page.keyboard.press("Enter");
      await page.keyboard.type(word);
    }
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement?.matches(".cv-stage"));
  };
  await add(["echo", "by keyboard"]);
  await add(["true"]);
  await problems(page, "good").waitFor();

  // A third task without dependencies: connected by hand, moved, and removed again.
  const said = (words) => page.locator(".cv-room [role=status]", { hasText: words }).waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  await add(["false"]);
  await page.keyboard.press("Home");
  await page.keyboard.press("c");
  await page.keyboard.press("ArrowDown");
  await said("To command-3");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.match(await node(page, "command-3").getAttribute("aria-label"), /needs command$/));
  const chosen = () => page.locator(".cv-task[data-selected]").getAttribute("id");
  for (let at = await chosen(); at !== "task-command-3"; at = await chosen()) {
    await page.keyboard.press("Tab");
    await eventually(async () => assert.notEqual(await chosen(), at));
  }
  const top = () => node(page, "command-3").evaluate((one) => Number.parseInt(one.parentElement.style.top, 10));
  const before = await top();
  await page.keyboard.press("Control+ArrowDown");
  await eventually(async () => assert.ok((await top()) > before));
  await page.keyboard.press("Delete");
  await node(page, "command-3").waitFor({ state: "detached" });
  await page.keyboard.press("Control+s");
  await answerMessage(page, "without a mouse");
  await page.waitForURL(/pipelines\/my-pipeline\/edit/);
  const { document } = await stored("my-pipeline");
  assert.match(document, /needs: \[command\]/, "what is added comes after what is selected");

  await reach(page, /^Run$/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await reach(page, /^Run$/);
  await page.keyboard.press("Enter");
  await page.locator("#task-command-2[data-state=succeeded]").waitFor({ timeout: 30_000 });
  await reach(page, /^Canvas of the pipeline/, "Shift+Tab");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("l");
  await page.locator(".ed-drawer").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".ed-drawer").waitFor({ state: "detached" });
  assert.deepEqual(await look(page, "en"), []);
});
