// GPUs over time: plots, a heat map and idle GPU-hours, with a range that the address has.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { flawless, look, LOOKS, settled } from "./support/browser.mjs";
import { root } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";

const WEEK = 7 * 86_400_000;
const PATH = "/clusters/local/gpu-history";

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  await api("POST", "/prices", { cluster: "local", gpu_hour: "2.5" });
  // No test machine has GPUs: the database has samples of some.
  await server.kill();
  execFileSync("python3", [join(root, "tests/e2e/support/gpus.py"), join(server.data, "db/cubeloom.sqlite")], { stdio: "inherit" });
  await server.run();
});

async function visit(query = "", options = {}) {
  const page = await site.open({ as: "vera", ...options });
  await page.goto(PATH + query);
  await settled(page);
  return page;
}

const plot = (page, name) => page.getByRole("group", { name }).and(page.locator(".plot"));

test("a day of GPUs has plots, a heat map and a table", async () => {
  const page = await visit();
  for (const name of [/^GPUs\. Allocated: 14; Used: 6; Total: 16$/, /^Allocated GPUs by project\. default: 12; Others: 2$/, /^Queue for GPUs\. Requested GPUs: 16; Pending jobs: 3$/, /^Oldest wait, min\. Oldest wait: 1\.5$/, /^Power of all GPUs, W\. Power: 4,000$/]) {
    await plot(page, name).waitFor();
  }
  await page.getByText(/^The GPUs used \d+(\.\d+)? kWh in this range\.$/).waitFor();
  assert.equal(await page.getByText("theirs").count(), 0);

  await page.getByLabel("Group by").first().selectOption("user");
  await settled(page);
  await plot(page, /^Allocated GPUs by user\. emil: 8; ada: 4; Others: 2$/).waitFor();
  assert.equal(await plot(page, /^Allocated GPUs by project/).count(), 0);
  assert.match(page.url(), /\?range=24h&by=user$/);

  const map = page.getByRole("group", { name: "Nodes over time" });
  await map.focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText(/^n1, .*: 8 of 8 GPUs allocated, utilization 25 %$/).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByText(/^n2, .*: 6 of 8 GPUs allocated, utilization 50 %$/).waitFor();
  flawless(page);
});

test("idle GPU-hours have their cost, and what is unknown is not idle", async () => {
  const page = await visit();
  const rows = page.getByRole("region", { name: "Idle GPU-hours" }).locator("tbody tr");
  const cells = async (at) => (await rows.nth(at).locator("th, td").allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());
  const [name, hours, idle, cost] = await cells(0);
  assert.equal(name, "default");
  assert.match(hours, /^2[89]\d\.\d$/);
  assert.match(idle, /^14\d\.\d 50 %$/);
  assert.match(cost, /^\d+\.\d\d$/);
  assert.deepEqual((await cells(1)).filter((_, at) => at !== 1), ["Others", "no data", "–"]);
  await page.getByLabel("Group by").last().selectOption("task");
  await settled(page);
  assert.match((await cells(0)).join(" "), /^default \/ count \/ learn 19\d\.\d 14\d\.\d 75 %/);
  assert.equal(await rows.nth(0).getByRole("link", { name: "count" }).getAttribute("href"), "/projects/default/pipelines/count");
  flawless(page);
});

test("a range is chosen, selected in a plot, gone back to, and kept by its address", async () => {
  const page = await visit();
  const week = page.getByRole("button", { name: "7 d" });
  await week.click();
  await settled(page);
  assert.match(page.url(), /\?range=7d$/);
  assert.equal(await week.getAttribute("aria-pressed"), "true");

  const area = page.locator(".plot .u-over").first();
  await area.scrollIntoViewIfNeeded();
  const box = await area.boundingBox();
  const middle = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.3, middle);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=/);
  await settled(page);
  const query = new URL(page.url()).searchParams;
  const part = (Date.parse(query.get("until")) - Date.parse(query.get("from"))) / WEEK;
  assert.ok(part > 0.27 && part < 0.33, `${part} of the week is selected`);
  assert.equal(await week.getAttribute("aria-pressed"), "false");
  // All plots and the table have the new range.
  await plot(page, /^GPUs\. Allocated: 14/).waitFor();
  assert.equal(await page.getByRole("link", { name: "Permalink" }).getAttribute("href"), new URL(page.url()).search);
  const shown = await page.locator(".gpu-tools + p").innerText();
  await page.reload();
  await settled(page);
  assert.equal(await page.locator(".gpu-tools + p").innerText(), shown);

  await page.getByRole("button", { name: "Zoom out" }).click();
  await settled(page);
  const wider = new URL(page.url()).searchParams;
  assert.ok(Date.parse(wider.get("from")) < Date.parse(query.get("from")));
  for (let n = 0; n < 2; n++) await page.goBack();
  await settled(page);
  assert.match(page.url(), /\?range=7d$/);
  assert.equal(await week.getAttribute("aria-pressed"), "true");
  flawless(page);
});

test("the page is complete in each language, theme and size", async () => {
  for (const { accessible, ...options } of LOOKS) {
    const page = await visit("?range=6h", options);
    await page.locator(".plot").first().waitFor();
    assert.deepEqual(await look(page, options.lang, { accessible }), [], JSON.stringify(options));
    await page.context().close();
  }
});

test("a range without samples, and a cluster without GPUs, say so", async () => {
  const page = await visit("?from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z");
  await page.getByText("This cluster has no GPUs.").waitFor();
  assert.equal(await page.locator(".plot:visible").count(), 0);
  await page.goto("/clusters/local");
  await settled(page);
  await page.getByRole("link", { name: "GPU history" }).click();
  await page.getByRole("heading", { name: "GPU history", level: 1 }).waitFor();
  flawless(page);
});
