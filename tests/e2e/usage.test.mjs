// An administrator enters a price, sees the cost of runs, prints a statement, and sets a budget that stops
// new runs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(stage);

test("usage has a price, a chart, a table and a file", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/usage");
  await settled(page);
  await page.getByText("No prices are set").waitFor();
  assert.ok((await page.locator(".usage-chart rect").count()) > 0);
  assert.deepEqual(await look(page, "en"), []);
  await page.getByRole("button", { name: "Add price" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("CPU-hour").fill("much");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.getByText(/is not an amount such as 0.35/).waitFor();
  page.faults.length = 0;
  await dialog.getByLabel("CPU-hour").fill("900000");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("The price is saved").waitFor();
  await settled(page);
  await page.getByRole("cell", { name: "900000.00" }).waitFor();
  assert.notEqual(await page.locator(".usage-totals .card").nth(3).locator(".usage-amount").innerText(), "0.00");
  await page.getByLabel("Group by").selectOption("pipeline");
  await page.getByRole("button", { name: "Show" }).click();
  await settled(page);
  await page.getByRole("rowheader", { name: "default / count" }).waitFor();
  assert.match(page.url(), /by=pipeline/);
  const file = await page.evaluate(async () => {
    const link = document.querySelector(".page-head a[download]");
    const answer = await fetch(link.href);
    return { kind: answer.headers.get("content-type"), text: await answer.text() };
  });
  assert.match(file.kind, /^text\/csv/);
  assert.match(file.text, /^project,pipeline,cpu_hours/);
  assert.match(file.text, /\ndefault,count,/);
  await page.getByRole("button", { name: /^Change the price of local/ }).click();
  await page.getByRole("dialog").getByLabel("GPU-hour").fill("2.5");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("cell", { name: "2.50", exact: true }).waitFor();
  assert.deepEqual(await look(page, "en"), []);
});

test("a statement can be printed, and is read without a mouse", async () => {
  const page = await site.open({ as: "vera" });
  await page.goto("/projects/default");
  await settled(page);
  await page.getByRole("link", { name: "Statement" }).press("Enter");
  await page.waitForURL("**/statements/**");
  await settled(page);
  await page.evaluate(() => { window.print = () => { document.title = "printed"; }; });
  await page.getByRole("button", { name: "Print" }).press("Enter");
  assert.equal(await page.title(), "printed");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".side").isVisible(), false);
  assert.equal(await page.getByRole("button", { name: "Print" }).isVisible(), false);
  assert.equal(await page.getByRole("heading", { name: /^Statement/ }).isVisible(), true);
});

test("a spent budget marks the project and stops what is new", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/projects/default");
  await settled(page);
  await page.evaluate(async () => {
    const headers = { "content-type": "application/json" };
    const price = { cluster: "local", cpu_hour: "900000" };
    // The previous test may have created one.
    if ((await (await fetch("/api/v1/prices")).json()).items.length === 0) {
      await fetch("/api/v1/prices", { method: "POST", headers, body: JSON.stringify(price) });
    }
  });
  await page.getByRole("button", { name: "Set budget" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Monthly amount").fill("0.01");
  await dialog.getByLabel("Stop new runs once it is spent").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("The budget is saved").waitFor();
  await page.getByText("Budget spent: no new runs").waitFor();
  assert.deepEqual(await look(page, "en"), []);
  const refused = await page.evaluate(async () => {
    const headers = { "content-type": "application/json", "accept-language": "en" };
    const answer = await fetch("/api/v1/projects/default/runs", { method: "POST", headers, body: JSON.stringify({ pipeline: "count" }) });
    return { status: answer.status, detail: (await answer.json()).detail };
  });
  assert.equal(refused.status, 409);
  assert.match(refused.detail, /the budget of project default for \d{4}-\d{2} is spent/);
});
