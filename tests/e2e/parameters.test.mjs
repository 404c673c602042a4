// The parameter form of a run: at every start button, on the pipeline's page, in the list and in the editor.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { dialog, mistake, press, refused } from "./support/dialog.mjs";
import { openEditor } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: asks
parameters:
  who: {type: string, description: For whom it is}
  steps: {type: integer, default: 3, minimum: 1, maximum: 9}
  loss: {type: string, default: squared, enum: [squared, absolute]}
  day: {type: date, default: "{{ run.date | days(0) }}"}
  sure: {type: boolean, default: false}
  sizes: {type: list, default: [1, 2]}
tasks:
  - {name: say, template: command, arguments: {command: [echo, "{{ params.who }}", "steps={{ params.steps }}", "{{ params.loss }}"]}}
`;

const NAMES = ["who", "steps", "loss", "day", "sure", "sizes"];

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  const api = server.api(server.token("emil"));
  await api("POST", "/projects/default/pipelines", { document: DOCUMENT, message: "as it began" });
  return { api };
});

const PIPELINE = "/projects/default/pipelines/asks";
const runs = async () => (await site.there.api("GET", "/projects/default/runs")).body.items;

/** Fills in the dialog, with mistakes at first. */
async function answer(page, who) {
  const form = dialog(page, "Run asks");
  const field = (name) => form.locator(`[data-field="${name}"]`).locator("input, select, textarea");
  await form.waitFor();
  const names = await form.locator("[data-field]").evaluateAll((fields) => fields.map(({ dataset }) => dataset.field));
  assert.deepEqual(names.filter((name) => name !== "place"), NAMES, "they are in the order of the document");
  assert.equal(await field("steps").inputValue(), "3");
  assert.equal(await field("loss").inputValue(), "squared");
  assert.equal(await field("day").inputValue(), "", "what is known when it starts is not given");
  assert.equal(await field("sizes").inputValue(), "[1,2]");
  assert.match(await form.locator("[data-field=who]").innerText(), /For whom it is/);

  await field("steps").fill("99");
  await field("sizes").fill("[1, 2");
  await press(page, "Run");
  for (const name of ["who", "steps", "sizes"]) await mistake(form, name).waitFor();
  assert.equal(await mistake(form, "loss").count(), 0);
  assert.equal(await field("steps").getAttribute("aria-invalid"), "true");
  await eventually(async () => assert.ok(await form.locator("[aria-invalid=true]").first().evaluate((one) => one === document.activeElement), "the first mistake has the focus"));
  refused(page, 422);
  assert.deepEqual(await look(page, "en"), []);

  await field("who").fill(who);
  await field("steps").fill("5");
  await field("loss").selectOption("absolute");
  await field("sure").selectOption("true");
  await field("sizes").fill("[3]");
}

/** The raw values: they are parsed by type when the run is planned. */
const GIVEN = (who) => ({ who, steps: "5", loss: "absolute", sure: "true", sizes: "[3]" });

test("on the pipeline's page: mistakes at their fields, then a run that has what was given, and only one", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto(PIPELINE);
  await settled(page);
  await page.locator("#run").click();
  await answer(page, "Ada");
  const before = (await runs()).length;
  await dialog(page).getByRole("button", { name: "Run", exact: true }).dblclick();
  await page.waitForURL(/\/runs\/[0-9a-z]{26}/);
  const run = new URL(page.url()).pathname.split("/")[2];
  const { body } = await site.there.api("GET", `/runs/${run}`);
  for (const [name, value] of Object.entries(GIVEN("Ada"))) assert.deepEqual(body.parameters[name], value, name);
  assert.equal((await runs()).length, before + 1, "who clicks twice starts one run");
  await page.goto(`/runs/${run}?tab=parameters`);
  const row = (name) => page.locator("tr", { has: page.getByRole("rowheader", { name, exact: true }) });
  await row("who").getByText("set for this run", { exact: true }).waitFor();
  assert.deepEqual(await page.locator("tbody th[scope=row]").allTextContents(), NAMES);
  await row("day").getByText("pipeline default").waitFor();
  flawless(page);
  await page.context().close();
});

test("in the list and in the editor it is the same form", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/default/pipelines");
  await settled(page);
  await page.getByRole("button", { name: "Run asks" }).click();
  await answer(page, "of the list");
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });

  await page.context().close();
  const editor = await openEditor(site, "emil", `${PIPELINE}/edit`);
  await editor.getByRole("button", { name: "Run", exact: true }).click();
  await answer(editor, "of the canvas");
  await press(editor, "Run");
  await editor.locator("#task-say[data-state=succeeded]").waitFor();
  const run = /#run\/(\w+)/.exec(editor.url())[1];
  const { body } = await site.there.api("GET", `/runs/${run}`);
  for (const [name, value] of Object.entries(GIVEN("of the canvas"))) assert.deepEqual(body.parameters[name], value, name);
  flawless(editor);
  await editor.context().close();
});

test("a run of an older version has that version's parameters", async () => {
  const { api } = site.there;
  const { etag, body } = await api("GET", "/projects/default/pipelines/asks");
  assert.equal(body.version, 1);
  await api("PUT", "/projects/default/pipelines/asks", { document: DOCUMENT.replace(/ {2}who.*\n/, "").replace("{{ params.who }}", "all") }, { "if-match": etag });
  const page = await site.open({ as: "emil" });
  await page.goto(`${PIPELINE}?version=1`);
  await settled(page);
  await page.locator("#run").click();
  await dialog(page).locator("[data-field=who] input").fill("an old friend");
  await press(page, "Run");
  await page.waitForURL(/\/runs\//);
  const run = new URL(page.url()).pathname.split("/")[2];
  const started = (await api("GET", `/runs/${run}`)).body;
  assert.deepEqual([started.version, started.parameters.who], [1, "an old friend"]);
  flawless(page);
  await page.context().close();
});
