// The text of a pipeline: completions for each position, and explanations on hover.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { openEditor } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: written
parameters:
  rounds: {type: integer, default: 60}
tasks:
  - name: split
    template: command
    arguments: {command: ["true"]}
    outputs: [parts]
  - name: train
    template: xgboost
    needs: []
    arguments:
      data: "x"
      model: m.json
      label: digit
`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  await server.api(server.token("emil"))("POST", "/projects/default/pipelines", { document: DOCUMENT });
});

const line = (page, words) => page.locator(".cm-line", { hasText: words });
const options = (page) => page.locator(".cm-tooltip-autocomplete [role=option]");
const offered = (page) => page.locator(".cm-tooltip-autocomplete .cm-completionLabel").allTextContents();

/** Puts the cursor on a line, `back` characters before its end. */
async function goTo(page, words, back = 0) {
  await line(page, words).click();
  await page.keyboard.press("End");
  for (let at = 0; at < back; at += 1) await page.keyboard.press("ArrowLeft");
}

/** Requests completions at the cursor, repeatedly while the data is loading, until the names are right. */
async function asked(page, right) {
  await eventually(async () => {
    if ((await options(page).count()) === 0) await page.keyboard.press("Control+Space");
    right(await offered(page));
  });
}

/** Accepts a completion. The list is re-rendered when better data arrives, and is then requested again. */
async function take(page, label) {
  await eventually(async () => {
    if ((await options(page).count()) === 0) await page.keyboard.press("Control+Space");
    await options(page).filter({ has: page.getByText(label, { exact: true }) }).first().click({ timeout: 2000 });
  });
  await options(page).first().waitFor({ state: "detached" });
}

/** Hovers over a word of a line. */
async function over(page, words, word) {
  const at = await line(page, words).evaluate((element, wanted) => {
    const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      const from = node.data.indexOf(wanted);
      if (from < 0) continue;
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, from + wanted.length);
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    }
    return null;
  }, word);
  await page.mouse.move(at.x - 3, at.y);
  await page.mouse.move(at.x, at.y);
}

async function explained(page, words, word, about) {
  await eventually(async () => {
    await over(page, words, word);
    await page.locator(".editor-hint", { hasText: about }).waitFor({ timeout: 2000 });
  });
}

for (const [where, open] of [
  ["on the pipeline's page", async () => {
    const page = await site.open({ as: "emil" });
    await page.goto("/projects/default/pipelines/written?tab=text");
    await settled(page);
    return page;
  }],
  ["in the editor", async () => {
    const page = await openEditor(site, "emil", "/projects/default/pipelines/written/edit");
    await page.locator("button[data-look=text]").click();
    await page.locator(".cm-content").waitFor();
    return page;
  }],
]) {
  test(`${where}: tasks, templates, arguments and names in braces are completed; keys and templates are explained`, async () => {
    const page = await open();
    await goTo(page, "needs: []", 1);
    await asked(page, (names) => assert.deepEqual(names, ["split"]));
    await take(page, "split");
    await line(page, "needs: [split]").waitFor();

    await goTo(page, "template: command");
    for (let at = 0; at < "command".length; at += 1) await page.keyboard.press("Backspace");
    await page.keyboard.type("py");
    await eventually(async () => assert.ok((await offered(page)).includes("pytorch"), `${await offered(page)}`));
    await page.keyboard.press("Escape");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("com");
    await eventually(async () => assert.equal((await offered(page))[0], "command", "what begins with it comes first"));
    await take(page, "command");
    await line(page, "template: command").waitFor();

    await goTo(page, 'data: "x"', 1);
    await page.keyboard.press("Backspace");
    await page.keyboard.type("{{ ");
    await asked(page, (names) => {
      for (const name of ["params.rounds", "tasks.split.outputs.parts", "run.dir"]) assert.ok(names.includes(name), `${name}: ${names}`);
    });
    await page.keyboard.type("tasks.split");
    await take(page, "tasks.split.outputs.parts");
    await line(page, "{{ tasks.split.outputs.parts").waitFor();
    await page.keyboard.type(" }}");

    if (where === "on the pipeline's page") {
      await goTo(page, "label: digit");
      await page.keyboard.press("Enter");
      await page.keyboard.type("rou");
      await eventually(async () => assert.ok((await offered(page)).includes("rounds")));
      await take(page, "rounds");
      await line(page, "rounds: ").last().waitFor();
    }

    await explained(page, "template: xgboost", "xgboost", /XGBoost/);
    await explained(page, "model: m.json", "model", /string/);
    await page.mouse.move(0, 0);
    flawless(page);
    await page.context().close();
  });
}

test("what is typed stays where it was typed, however slowly, while the page reads and checks it", async () => {
  const page = await openEditor(site, "emil", "/projects/default/pipelines/written/edit");
  await page.locator("button[data-look=text]").click();
  await page.locator(".cm-content").waitFor();
  await goTo(page, "label: digit");
  // Longer than the page's debounce: each letter is parsed, and earlier responses arrive in between.
  await page.keyboard.type(" of the writer", { delay: 320 });
  await eventually(async () => assert.ok((await page.locator(".cm-line").allTextContents()).includes("      label: digit of the writer"), (await page.locator(".cm-line").allTextContents()).slice(-3).join("|")));
  flawless(page);
  await page.context().close();
});
