// The editor loses nothing: concurrent edits, unsaved work, unreadable text, and read-only users.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look } from "./support/browser.mjs";
import { refused } from "./support/dialog.mjs";
import { answerMessage, field, node, openEditor, ready, save } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { count, ended, stage, start } from "./support/stage.mjs";

const site = siteFor(stage);

const PATH = "/projects/default/pipelines/count/edit";
const stored = async () => (await site.there.api("GET", "/projects/default/pipelines/count")).body;
const description = (page) => field(page, "/description").getByRole("textbox").first();

test("two people on one pipeline: the second is told at once, and merges by task and field", async () => {
  const ada = await openEditor(site, "ada", PATH);
  const emil = await openEditor(site, "emil", PATH);
  await description(emil).fill("Emil's words");
  await node(emil, "judge").click();
  await field(emil, "/tasks/2/description").getByRole("textbox").first().fill("Judges, says Emil.");
  await description(ada).fill("Ada's words");
  await save(ada, "words of Ada's");

  const banner = emil.locator(".ed-banner", { hasText: "ada has just saved version 3" });
  await banner.waitFor({ timeout: 5000 });
  await banner.getByText("words of Ada's").waitFor();
  await banner.getByRole("button", { name: "Merge" }).click();
  const dialog = emil.getByRole("dialog");
  await dialog.locator("fieldset").first().waitFor();
  // The description conflicts; Emil's other change is merged without a question.
  await eventually(async () => assert.equal(await dialog.locator("fieldset").count(), 1));
  await dialog.getByText("Emil's words").waitFor();
  assert.deepEqual(await look(emil, "en"), []);
  await dialog.getByLabel(/^ada's/).check();
  await dialog.getByRole("button", { name: "Merge" }).click();
  await banner.waitFor({ state: "detached" });
  assert.equal((await stored()).version, 3, "a merge is not saved yet");
  const unsaved = emil.locator(".ed-banner", { hasText: "Changes by ada (version 3) were merged with yours" });
  await unsaved.waitFor();
  assert.equal(await emil.locator(".toast").count(), 0, "it is no success yet");
  assert.deepEqual(await look(emil, "en"), []);
  await unsaved.getByRole("button", { name: "Save" }).click();
  await answerMessage(emil, "both");
  await unsaved.waitFor({ state: "detached" });
  const { document, version } = await stored();
  assert.equal(version, 4);
  assert.match(document, /Ada's words/);
  assert.match(document, /Judges, says Emil\./);
  assert.doesNotMatch(document, /Emil's words/);

  // Ada, who has no unsaved changes, loads it with one click.
  await ada.locator(".ed-banner").getByRole("button", { name: "Load this version" }).click();
  await ada.locator(".ed-saved", { hasText: "Version 4 · saved" }).waitFor();
  flawless(ada);
  flawless(emil);
});

/** A pipeline of its own, with Emil's unsaved change, and Ada's newer version. */
async function both(name) {
  const path = `/projects/default/pipelines/${name}`;
  const document = count().replace("name: count", `name: ${name}`);
  await site.there.api("POST", "/projects/default/pipelines", { document });
  const page = await openEditor(site, "emil", `${path}/edit`);
  await node(page, "judge").click();
  await field(page, "/tasks/2/description").getByRole("textbox").first().fill("Emil's words");
  await site.there.api("PUT", path, { document: document.replace("and says how well", "and Ada says how well") }, { "if-match": '"1"' });
  return { page, stored: async () => (await site.there.api("GET", path)).body };
}

const newer = (page) => page.locator(".ed-banner", { hasText: "ada has just saved version 2" });
const unsaved = (page) => page.locator(".ed-banner", { hasText: "Changes by ada (version 2) were merged with yours" });

test("a merge that is undone is offered again; after a reload it still says that it is not saved", async () => {
  const { page, stored: present } = await both("undone");
  await newer(page).getByRole("button", { name: "Merge" }).click();
  await unsaved(page).waitFor();
  await page.locator(".ed-steps button").first().click();
  await unsaved(page).waitFor({ state: "detached" });
  await newer(page).waitFor();
  await page.locator(".ed-saved", { hasText: "Version 1 · unsaved changes" }).waitFor();

  await newer(page).getByRole("button", { name: "Merge" }).click();
  await unsaved(page).waitFor();
  page.on("dialog", (dialog) => void dialog.accept());
  await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith("cubeloom.draft.") && localStorage.getItem(key).includes('"merged"')));
  await page.reload();
  await ready(page);
  await page.locator(".ed-banner", { hasText: "unsaved changes from" }).getByRole("button", { name: "Restore" }).click();
  await unsaved(page).getByRole("button", { name: "Save" }).click();
  await answerMessage(page, "both");
  await unsaved(page).waitFor({ state: "detached" });
  const { document, version } = await present();
  assert.equal(version, 3);
  for (const words of ["Emil's words", "and Ada says how well"]) assert.ok(document.includes(words), words);
  flawless(page);
  await page.context().close();
});

test("to save for a run is to merge first, and nothing is run unseen", async () => {
  const { page, stored: present } = await both("together");
  await newer(page).waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Run together" });
  await dialog.getByText("there are unsaved changes").waitFor();
  await dialog.getByRole("button", { name: "Save and run" }).click();
  await unsaved(page).waitFor();
  await dialog.waitFor({ state: "detached" });
  const { body } = await site.there.api("GET", "/projects/default/runs?pipeline=together");
  assert.deepEqual([body.items.length, (await present()).version], [0, 2]);
  refused(page, 412);
  flawless(page);
  await page.context().close();
});

test("what somebody else has saved is looked at, saved over, or taken", async () => {
  const page = await openEditor(site, "emil", PATH);
  const { etag, body } = await site.there.api("GET", "/projects/default/pipelines/count");
  // The description may be anywhere in the task: the editor puts a new field last.
  const withDescription = (text, words) => {
    const [before, after] = text.split("name: judge\n");
    return `${before}name: judge\n    description: ${words}\n${after.replace(/^ {4}description: .*\n?/m, "")}`;
  };
  const theirs = (words, tag) => site.there.api("PUT", "/projects/default/pipelines/count", { document: withDescription(body.document, words), message: words }, { "if-match": tag });
  await description(page).fill("mine, and kept");
  await theirs("first", etag);
  const banner = page.locator(".ed-banner[data-kind=warning]");
  await banner.getByRole("button", { name: "Show differences" }).click();
  await page.locator("#task-judge[data-difference=changed]").waitFor();
  await page.getByRole("button", { name: "Stop comparing" }).click();
  await page.locator("#task-judge:not([data-difference])").waitFor();
  await banner.getByRole("button", { name: "Keep mine" }).click();
  await banner.waitFor({ state: "detached" });
  assert.equal(await description(page).inputValue(), "mine, and kept");
  await save(page, "over theirs");
  assert.match((await stored()).document, /mine, and kept/);
  assert.doesNotMatch((await stored()).document, /first/);

  await description(page).fill("mine, and given up");
  const { etag: now } = await site.there.api("GET", "/projects/default/pipelines/count");
  await theirs("second", now);
  await banner.getByRole("button", { name: "Use theirs" }).click();
  await banner.waitFor({ state: "detached" });
  await eventually(async () => assert.notEqual(await description(page).inputValue(), "mine, and given up"));
  await page.locator(".ed-saved:not([data-dirty])").waitFor({ state: "attached" });
  await node(page, "judge").click();
  await eventually(async () => assert.equal(await field(page, "/tasks/2/description").getByRole("textbox").first().inputValue(), "second"));
  // It can be undone like other changes.
  await page.locator(".ed-steps button").first().click();
  await page.locator(".cv-stage").focus();
  await page.keyboard.press("Escape");
  await eventually(async () => assert.equal(await description(page).inputValue(), "mine, and given up"));
  flawless(page);
});

test("unsaved work is offered again after the window was closed, and leaving asks", async () => {
  const page = await openEditor(site, "emil", PATH);
  const asked = [];
  page.on("dialog", (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await description(page).fill("never saved");
  await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith("cubeloom.draft.") && localStorage.getItem(key).includes("never saved")));
  await page.reload();
  assert.deepEqual(asked, ["beforeunload"]);
  const banner = page.locator(".ed-banner", { hasText: "unsaved changes from" });
  await banner.getByRole("button", { name: "Restore" }).click();
  await banner.waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await description(page).inputValue(), "never saved"));
  await page.keyboard.press("Control+z");
  await page.getByRole("button", { name: /^Undo:/ }).click();
  await page.locator(".ed-saved:not([data-dirty])").waitFor({ state: "attached" });
  await page.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith("cubeloom.draft.")));
});

test("while the text cannot be read the canvas shows the last state that could", async () => {
  const page = await openEditor(site, "emil", PATH);
  await page.getByRole("button", { name: "Both" }).click();
  const text = page.locator(".cm-content");
  await text.waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await text.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n- {[");
  const banner = page.locator(".ed-banner[data-kind=error]");
  await banner.waitFor();
  await node(page, "judge").waitFor();
  await banner.getByRole("button").click();
  await banner.waitFor({ state: "detached" });
  await page.locator(".ed-saved:not([data-dirty])").waitFor({ state: "attached" });

  // Text edits update the document, and canvas edits update the text.
  await page.keyboard.press("Escape");
  await text.getByText("judge", { exact: true }).last().dblclick();
  await page.keyboard.type("jury");
  await page.getByRole("button", { name: "Canvas", exact: true }).click();
  await node(page, "jury").click();
  await page.getByRole("button", { name: "Both" }).click();
  await field(page, "/tasks/2/description").getByRole("textbox").first().fill("twelve of them");
  await text.getByText("twelve of them").waitFor();
  flawless(page);
});

test("what is done beside a text that is still being read is kept", async () => {
  const page = await openEditor(site, "emil", PATH);
  let go;
  const held = new Promise((done) => { go = done; });
  await page.route(/text-worker/, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("button", { name: "Both" }).click();
  const text = page.locator(".cm-content");
  await text.getByText("judge", { exact: true }).last().dblclick();
  const reading = page.waitForRequest(/text-worker/);
  await page.keyboard.type("jury");
  await reading;
  await description(page).fill("meanwhile");
  go();
  await text.getByText("meanwhile").waitFor();
  await text.getByText("jury", { exact: true }).last().waitFor();
  await eventually(async () => assert.equal(await description(page).inputValue(), "meanwhile"));
  await page.getByRole("button", { name: "Canvas", exact: true }).click();
  await node(page, "jury").waitFor();
  flawless(page);
});

test("a viewer looks, and changes nothing; on a narrow screen nothing is wider than it", async () => {
  const page = await openEditor(site, "vera", PATH, { size: "narrow", theme: "dark" });
  assert.equal(await page.getByRole("button", { name: "Save" }).count(), 0);
  await page.getByRole("button", { name: "Versions" }).click();
  await page.locator(".ed-version").first().waitFor();
  assert.deepEqual(await look(page, "en"), []);
});

test("in Chinese a run on the canvas says in Chinese why a task waits", async () => {
  const task = (name) => `  - {name: ${name}, template: command, resources: {cpu: 100m, memory: 64Mi}, arguments: {command: [sleep, "600"]}}\n`;
  const document = `apiVersion: cubeloom/v1\nkind: Pipeline\nname: queue\nparallelism: 1\ntasks:\n${task("first")}${task("second")}`;
  await site.there.api("POST", "/projects/default/pipelines", { document });
  const run = await start(site.there.api, { pipeline: "queue" });
  const page = await openEditor(site, "emil", `/projects/default/pipelines/queue/edit#run/${run}`, { lang: "zh" });
  await page.locator('#task-second .cv-live[title="流水线的并行上限为 1"]').waitFor();
  flawless(page);
  await site.there.api("POST", `/runs/${run}/cancel`);
  await ended(site.there.api, run);
});
