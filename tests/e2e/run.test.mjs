// The page of a run.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { until } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: fanned
tasks:
  - name: each
    template: command
    for_each: {list: [0, 3, 0]}
    arguments: {command: [sh, -c, "exit {{ item }}"]}
`;

const one = (name, cpu, line) =>
  `apiVersion: cubeloom/v1\nkind: Pipeline\nname: ${name}\ntasks: [{name: work, template: command, resources: {cpu: ${cpu}, memory: 64Mi}, arguments: {command: [${line}]}}]\n`;

// Before the server is stopped: its jobs would go on.
after(async () => {
  const { api, holds, waits } = site.there;
  for (const run of [waits, holds]) {
    await api("POST", `/runs/${run}/cancel`);
    await ended(api, run);
  }
});

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  const run = await start(api, { document: DOCUMENT });
  await ended(api, run);
  await api("PUT", "/projects/default/quota", { quotas: { local: { guarantee: { cpu: 2 } } } }, { "if-match": "*" });
  const holds = await start(api, { document: one("holds", 5, "sleep, '300'") });
  await until("a job to hold five cores", async () => (await api("GET", `/runs/${holds}`)).body.state === "running");
  const waits = await start(api, { document: one("waits", 4, "'true'") });
  const why = async () => (await api("GET", `/runs/${waits}/tasks/work`)).body.wait?.why?.shortages[0]?.borrowed === 3;
  await until("another to wait for four, and to say why", why);
  return { api, run, holds, waits };
});

test("a task of several instances that failed says how many did, in the table and in the graph", async () => {
  for (const [lang, failed] of [["en", "2/3, 1 failed"], ["zh", "2/3, 1 个失败"]]) {
    const page = await site.open({ as: "ada", lang });
    await page.goto(`/runs/${site.there.run}?tab=table`);
    await page.locator("#task-0").getByText(failed).waitFor();
    await page.goto(`/runs/${site.there.run}?tab=graph`);
    await settled(page);
    const nodes = await page.locator("#graph title").allTextContents();
    assert.ok(nodes.some((title) => title.includes(failed)), nodes.join("; "));
    flawless(page);
    await page.context().close();
  }
});

test("a file is chosen in the reader's language, and its name is shown", async () => {
  const page = await site.open({ as: "ada", lang: "zh" });
  await page.goto("/projects/default/import");
  await settled(page);
  const field = page.locator("[data-field=file]");
  assert.match(await field.innerText(), /选择文件\s*未选择文件/);
  await page.locator("#f-file").setInputFiles({ name: "old.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await field.getByText("old.json").waitFor();
  await page.goto("/projects/default/secrets");
  await page.getByText("# 变量 HF_TOKEN").waitFor();
  flawless(page);
});

for (const [lang, theme, size, words] of [
  ["en", "light", "wide", ["CPU cores", "4", "3", "5 of 8", "2", "3"]],
  ["zh", "dark", "narrow", ["CPU 核", "4", "3", "5 共 8", "2", "3"]],
]) {
  test(`why a task waits: what is asked, free, held, guaranteed and borrowed, and by whom, ${lang}`, async () => {
    const { holds, waits } = site.there;
    const page = await site.open({ as: "ada", lang, theme, size });
    await page.goto(`/runs/${waits}/tasks/work`);
    await settled(page);
    const cells = await page.locator(".why-amounts tbody tr").first().locator("th, td").allInnerTexts();
    assert.deepEqual(cells.map((cell) => cell.replaceAll(/\s+/g, " ").trim()), words);
    const holder = page.locator(".why-holders li").first();
    assert.equal(await holder.getByRole("link").getAttribute("href"), `/runs/${holds}/tasks/work`);
    assert.match(await holder.innerText(), /work default · ada · .*5/);
    assert.deepEqual(await look(page, lang), []);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/why-${theme}-${size}.png`, fullPage: true });
    flawless(page);
    await page.context().close();
  });
}

test("one click on a task of the graph opens it: what failed is listed first, and instances are chosen by their state", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto(`/runs/${site.there.run}`);
  await settled(page);
  const node = page.locator("#graph .dag-node");
  await node.click();
  const panel = page.locator("#task-panel");
  const instances = () => panel.locator("#task-instances tbody th").allInnerTexts();
  await panel.locator("#task-instances").waitFor();
  assert.deepEqual(await instances(), ["1"]);
  const chips = panel.locator(".instance-states a");
  assert.deepEqual((await chips.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim()), ["All 3", "Failed 1", "Succeeded 2"]);
  await chips.filter({ hasText: "Succeeded" }).click();
  await until("those that succeeded to be listed", async () => (await instances()).join() === "0,2");
  await panel.locator("#instance-2 a").click();
  await panel.locator("#instance-2[aria-selected]").waitFor();
  assert.deepEqual(await instances(), ["0", "2"], "the choice stays");
  await chips.filter({ hasText: "All" }).click();
  await until("all to be listed", async () => (await instances()).join() === "0,1,2");
  assert.deepEqual(await look(page, "en"), []);
  // The focus returns to the task, and Enter opens it again.
  await panel.press("Escape");
  await panel.waitFor({ state: "hidden" });
  assert.ok(await node.evaluate((one) => one === document.activeElement));
  await page.keyboard.press("Enter");
  await panel.locator("#task-title:focus").waitFor();
  flawless(page);
  await page.context().close();
});

test("the Gantt chart of a run whose task waits shows it from the start", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto(`/runs/${site.there.waits}?tab=gantt`);
  const bar = page.locator("#gantt .gantt-bar[data-state=waiting][data-open]");
  await bar.waitFor();
  assert.match(await bar.getAttribute("title"), /^attempt 1: queued or preparing/);
  await page.locator("#gantt .gantt-label", { hasText: "work" }).click();
  await page.locator("#task-panel .callout", { hasText: "Pending reason" }).waitFor();
  flawless(page);
  await page.context().close();
});
