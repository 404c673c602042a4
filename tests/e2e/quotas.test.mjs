// An administrator creates a group, sets a project's quota, sees its impact, errors and edit conflicts, and
// moves a guarantee. Members have read access.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, stage, start } from "./support/stage.mjs";

// Before the server is stopped: its jobs would go on.
after(async () => {
  site.server.write("gate", "");
  await ended(site.there.api, site.there.live);
});

const site = siteFor(async (server) => {
  const there = await stage(server);
  const held = `apiVersion: cubeloom/v1\nkind: Pipeline\nname: held\ntasks: [{name: hold, template: command, resources: {cpu: 500m}, arguments: {command: [sh, -c, "until test -e ${server.path("gate")}; do sleep 0.2; done"]}}]\n`;
  const live = await start(there.api, { document: held });
  await eventually(async () => {
    const { body } = await there.api("GET", "/clusters/local");
    assert.ok(body.running.some((one) => one.run === live), "the job runs");
  });
  return { ...there, live };
});

const row = (page, queue) => page.locator(`[data-queue="${queue}"]`).first();

/** Opens a queue's dialog. */
async function edit(page, queue) {
  await page.locator(`[data-edit-queue="${queue}"]`).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  return dialog;
}

test("quotas are made, previewed, refused, saved and moved", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/quotas");
  await settled(page);
  await row(page, "project/default").getByText("0.5 allocated").waitFor();

  // A group, with the keyboard alone.
  await page.locator("#new-group").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("vision");
  await page.keyboard.press("Enter");
  await page.getByText("The quota of vision is changed").waitFor();
  await settled(page);

  let dialog = await edit(page, "group/vision");
  await dialog.getByLabel("Guarantee of CPU cores").fill("2");
  await dialog.getByText("No job is affected now.").waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await dialog.getByRole("button", { name: "Save" }).click();
  await row(page, "group/vision").getByText("of 2 guaranteed").waitFor();
  await settled(page);

  // A limit below the current usage is shown before saving, and must be confirmed.
  dialog = await edit(page, "project/default");
  await dialog.getByLabel("Limit of CPU cores").fill("100m");
  await dialog.getByText(/Running jobs over the limit: 1/).waitFor();
  await dialog.getByText(/held · hold \(/).waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await dialog.getByRole("button", { name: "Save" }).click();
  const below = dialog.getByLabel(/Save below current use/);
  await below.waitFor();
  assert.ok(await dialog.locator(".field-error").first().isVisible());
  await dialog.getByLabel("Parent group").selectOption("vision");
  await below.check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await row(page, "project/default").getByText("limit 0.1").waitFor();
  await settled(page);
  // The rejected request.
  page.faults.length = 0;

  // A concurrent edit.
  dialog = await edit(page, "project/default");
  const faster = await page.evaluate(async () => {
    const headers = { "content-type": "application/json", "if-match": "*" };
    const body = JSON.stringify({ parent: "vision", quotas: { local: { limit: { cpu: 3 } } } });
    return (await fetch("/api/v1/projects/default/quota", { method: "PUT", headers, body })).status;
  });
  assert.equal(faster, 200);
  await dialog.getByLabel("Limit of CPU cores").fill("4");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Someone else changed this in the meantime. Nothing was saved.").waitFor();
  await dialog.getByRole("button", { name: "Show current values" }).click();
  await row(page, "project/default").getByText("limit 3").waitFor();
  await settled(page);
  page.faults.length = 0;

  // Simulates moving one CPU of the group's guarantee elsewhere, and then applies it.
  const { status } = await page.evaluate(async () => {
    const headers = { "content-type": "application/json", "if-match": "*" };
    return { status: (await fetch("/api/v1/quotas/groups/sound", { method: "PUT", headers, body: "{}" })).status };
  });
  assert.equal(status, 200);
  await page.reload();
  await settled(page);
  await page.locator("#what-if").click();
  dialog = page.getByRole("dialog");
  await dialog.getByLabel("Resource").selectOption("cpu");
  await dialog.getByLabel("Amount").fill("1");
  await dialog.getByLabel("From").selectOption("group/vision");
  await dialog.getByLabel("To", { exact: true }).selectOption("group/sound");
  await dialog.getByText("No job is affected now.").waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await dialog.getByRole("button", { name: "Apply" }).click();
  await row(page, "group/sound").getByText("of 1 guaranteed").waitFor();
  await row(page, "group/vision").getByText("of 1 guaranteed").waitFor();
  await page.getByText("local guarantee cpu").first().waitFor();

  await settled(page);
  dialog = await edit(page, "group/sound");
  await dialog.getByRole("button", { name: "Delete group" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete group" }).click();
  await page.getByText("The quotas of sound are removed").waitFor();
  assert.equal(await row(page, "group/sound").count(), 0);
  await page.context().close();
});

test("a named limit is made, changed and deleted", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/quotas");
  await settled(page);
  const limit = page.locator("[data-limit=api]");
  await page.locator("#new-limit").focus();
  await page.keyboard.press("Enter");
  let dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("api");
  await page.keyboard.press("Enter");
  await dialog.getByText("set a maximum of concurrent jobs, of starts per minute, or both").waitFor();
  page.faults.length = 0;
  await dialog.getByLabel("Max concurrent jobs").fill("7");
  assert.deepEqual(await look(page, "en"), []);
  await page.keyboard.press("Enter");
  await limit.getByText("of 7").waitFor();
  await settled(page);
  await limit.getByRole("button", { name: "Change the limit api" }).click();
  dialog = page.getByRole("dialog");
  await dialog.getByLabel("Max starts per minute").fill("30");
  await dialog.getByRole("button", { name: "Save" }).click();
  await limit.getByText("of 30").waitFor();
  await settled(page);
  await limit.getByRole("button", { name: "Delete the limit api" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("The limit api is deleted").waitFor();
  assert.equal(await limit.count(), 0);
  await page.context().close();
});

test("a priority class is made, changed and deleted", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/quotas");
  await settled(page);
  const row = page.locator("[data-class=nightly]");
  await page.locator("#new-class").focus();
  await page.keyboard.press("Enter");
  let dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Nightly");
  await dialog.getByLabel("Priority", { exact: true }).fill("-5");
  await page.keyboard.press("Enter");
  await dialog.getByText("`Nightly` is not a valid name").waitFor();
  page.faults.length = 0;
  await dialog.getByLabel("Name", { exact: true }).fill("nightly");
  assert.deepEqual(await look(page, "en"), []);
  await page.keyboard.press("Enter");
  await row.getByText("No jobs").waitFor();
  await settled(page);
  await row.getByRole("button", { name: "Change the class nightly" }).click();
  dialog = page.getByRole("dialog");
  await dialog.getByLabel("Preempts").selectOption({ label: "Jobs of a lower priority" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("Jobs of a lower priority").waitFor();
  await settled(page);
  await row.getByRole("button", { name: "Delete the class nightly" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("The class nightly is deleted").waitFor();
  assert.equal(await row.count(), 0);
  await page.context().close();
});

for (const { lang, theme, size } of [{ lang: "en", theme: "dark", size: "narrow" }, { lang: "zh", theme: "light", size: "wide" }]) {
  test(`the tree with bars, ${lang}, ${theme}, ${size}`, async () => {
    const page = await site.open({ as: "ada", lang, theme, size });
    await page.goto("/quotas");
    await settled(page);
    assert.ok(await page.locator(".quota-bar").count() > 0);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/quotas-${theme}-${size}.png`, fullPage: true });
    assert.deepEqual(await look(page, lang), []);
    await page.context().close();
  });
}

test("members read", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/default");
  await settled(page);
  await page.locator(".page-head").getByRole("link", { name: "Quotas" }).click();
  await row(page, "project/default").waitFor();
  assert.equal(await page.getByRole("button", { name: /^Change/ }).count(), 0);
  assert.equal(await page.locator("#new-group, #what-if").count(), 0, "who has one project has nothing to move");
  // They may simulate changes by keyboard, but there is no save button.
  await row(page, "project/default").locator("[data-try-queue]").first().press("Enter");
  const asked = page.locator("dialog[open]");
  await asked.locator("[data-part=limit][data-resource=cpu]").fill("1");
  await asked.locator(".quota-preview h3").waitFor();
  assert.equal(await asked.getByRole("button", { name: "Save" }).count(), 0);
  assert.deepEqual(await look(page, "en"), []);
  await page.keyboard.press("Escape");
  await asked.waitFor({ state: "detached" });
  await page.context().close();
});

test("a member asks what a move between two own projects would do: who gives back, who starts; and moves nothing", async () => {
  const { api } = site.there;
  await api("POST", "/projects", { name: "other" });
  await api("PUT", "/projects/other/members/emil", { role: "editor" });
  for (const [project, cpu] of [["default", 7], ["other", 0]]) {
    const quotas = { local: { guarantee: { cpu } } };
    await api("PUT", `/projects/${project}/quota`, { quotas }, { "if-match": "*" });
  }
  const work = (name, cpu) => `apiVersion: cubeloom/v1\nkind: Pipeline\nname: ${name}\ntasks: [{name: work, template: command, resources: {cpu: ${cpu}}, arguments: {command: [sleep, '300']}}]\n`;
  const state = async (run, wanted) => eventually(async () => assert.equal((await api("GET", `/runs/${run}/tasks/work`)).body.state, wanted));
  const runs = [];
  for (const [project, name, cpu, wanted] of [["default", "old", 4, "running"], ["default", "new", 3, "running"], ["other", "owed", 2, "waiting"]]) {
    const { body } = await api("POST", `/projects/${project}/runs`, { document: work(name, cpu) });
    runs.push(body.run.id);
    await state(body.run.id, wanted);
  }
  for (const [theme, size] of [["light", "wide"], ["dark", "narrow"]]) {
    const page = await site.open({ as: "emil", theme, size });
    await page.goto("/quotas");
    await settled(page);
    await page.locator("#what-if").press("Enter");
    const dialog = page.getByRole("dialog");
    assert.deepEqual(await dialog.getByLabel("From").locator("option").allInnerTexts(), ["project/default", "project/other"]);
    await dialog.getByLabel("Resource").selectOption("cpu");
    await dialog.getByLabel("From").selectOption("project/default");
    await dialog.getByLabel("To", { exact: true }).selectOption("project/other");
    await dialog.getByLabel("Amount").fill("3");
    await dialog.getByText("Running jobs that would be preempted: 1").waitFor();
    await dialog.getByText(/default · new · work/).waitFor();
    await dialog.getByText("Pending jobs that would start: 1").waitFor();
    await dialog.getByText(/other · owed · work/).waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Apply" }).count(), 0);
    // The keyboard sends nothing either.
    await dialog.getByLabel("Amount").press("Enter");
    assert.deepEqual(await look(page, "en"), []);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/what-if-${theme}-${size}.png` });
    flawless(page);
    await page.context().close();
  }
  const { body } = await api("GET", "/projects/default/quota");
  assert.equal(body.quotas.local.guarantee.cpu, "7");
  // The page of the pending task shows the shortage and the allocations.
  for (const [lang, theme, size] of [["en", "dark", "wide"], ["zh", "light", "narrow"]]) {
    const page = await site.open({ as: "emil", lang, theme, size });
    await page.goto(`/runs/${runs[2]}/tasks/work`);
    await settled(page);
    const [asked, free] = await page.locator(".why-amounts tbody tr").first().locator("td").allInnerTexts();
    assert.deepEqual([asked.match(/\S+$/)[0], free.match(/\S+$/)[0]], ["2", "0.5"]);
    assert.match(await page.locator(".why-holders li").first().innerText(), /^work.*default · ada/s);
    assert.deepEqual(await look(page, lang), []);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/why-${theme}-${size}.png`, fullPage: true });
    flawless(page);
    await page.context().close();
  }
  for (const run of runs) {
    await api("POST", `/runs/${run}/cancel`);
    await ended(api, run);
  }
});
