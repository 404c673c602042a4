// Run on the Text tab: what is seen is run. Unsaved changes are saved first, errors are named.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { dialog, press, told } from "./support/dialog.mjs";
import { siteFor } from "./support/site.mjs";

const document = (name) => `apiVersion: cubeloom/v1
kind: Pipeline
name: ${name}
parameters:
  steps: {type: integer, default: 3}
tasks:
  - name: say
    template: command
    resources: {cpu: 100m, memory: 64Mi}
    arguments: {command: [echo, "{{ params.steps }}"]}
`;

const site = siteFor((server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  return { api: server.api(server.token("emil")) };
});

const api = (...call) => site.there.api(...call);
const stored = async (name) => (await api("GET", `/projects/default/pipelines/${name}`)).body;
const runs = async (name) => (await api("GET", `/projects/default/runs?pipeline=${name}`)).body.items;

/** The text of a new pipeline. */
async function text(name, options = {}) {
  await api("POST", "/projects/default/pipelines", { document: document(name), message: "as it began" });
  const page = await site.open({ as: "emil", ...options });
  await page.goto(`/projects/default/pipelines/${name}?tab=text`);
  await settled(page);
  return page;
}

/** Replaces the default of the parameter, which has one letter. */
async function setDefault(page, value) {
  await page.locator(".cm-line", { hasText: "default:" }).click();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Backspace");
  await page.keyboard.type(value);
}

const steps = (page) => dialog(page).locator("[data-field=steps] input");

test("a text with unsaved changes is saved and run, with its own parameters", async () => {
  const page = await text("changed");
  await setDefault(page, "5");
  await page.locator("#run").click();
  await dialog(page, "Run changed").getByText("The text differs from version 1").waitFor();
  assert.equal(await steps(page).inputValue(), "5", "the parameters are those of the text");
  assert.deepEqual(await look(page, "en", { dialog: true }), []);
  await dialog(page).getByLabel("Message", { exact: true }).fill("more steps");
  await press(page, "Save and run");
  await page.waitForURL(/\/runs\/[0-9a-z]{26}/);
  const { version, message, document: saved } = await stored("changed");
  assert.deepEqual([version, message], [2, "more steps"]);
  assert.match(saved, /default: 5/);
  const [run] = await runs("changed");
  assert.equal(run.version, 2);
  const { body: plan } = await api("GET", `/runs/${run.id}/plan`);
  assert.equal(plan.parameters.steps, 5);
  flawless(page);
  await page.context().close();
});

test("the stored version is run instead, and the text stays", async () => {
  const page = await text("kept");
  await setDefault(page, "7");
  await page.locator("#run").click();
  await press(page, "Run version 1");
  await dialog(page, "Run kept, version 1").waitFor();
  assert.equal(await steps(page).inputValue(), "3", "the parameters are those of the version");
  await press(page, "Run");
  await told(page, "A run of version 1 was started");
  await page.locator(".cm-line", { hasText: "default: 7" }).waitFor();
  assert.deepEqual((await runs("kept")).map(({ version }) => version), [1]);
  assert.equal((await stored("kept")).version, 1);
  flawless(page);
  await page.context().close();
});

for (const [lang, differs, show, run] of [["en", "The text differs from version 1", "Show error", "Run version 1"], ["zh", "文本与版本 1 不同", "查看错误", "运行版本 1"]]) {
  test(`of a text with an error the error is named, and the text is not offered to be run, ${lang}`, async () => {
    const name = `wrong-${lang}`;
    const page = await text(name, { lang, theme: "dark", size: lang === "zh" ? "narrow" : "wide" });
    await setDefault(page, "many");
    await page.locator("#run").click();
    const shown = dialog(page);
    await shown.getByText(differs).waitFor();
    assert.match(await shown.locator(".callout.error").innerText(), /5[\s\S]*"many"/);
    assert.deepEqual(await shown.locator(".dialog-foot button.primary").allInnerTexts(), [show]);
    assert.deepEqual(await look(page, lang, { dialog: true }), []);
    await press(page, show);
    await shown.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.closest(".cm-editor") !== null);
    assert.equal((await runs(name)).length, 0);

    await page.locator("#run").click();
    await press(page, run);
    await steps(page).waitFor();
    assert.equal(await steps(page).inputValue(), "3");
    flawless(page);
    await page.context().close();
  });
}

test("a text without changes is run as it is stored, without a question", async () => {
  const page = await text("same");
  await page.locator("#run").click();
  await dialog(page, "Run same").waitFor();
  assert.equal(await dialog(page).getByText("The text differs").count(), 0);
  await press(page, "Run");
  await page.waitForURL(/\/runs\/[0-9a-z]{26}/);
  const [run] = await runs("same");
  assert.equal(run.version, 1);
  flawless(page);
  await page.context().close();
});
