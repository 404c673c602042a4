// A task gets less than it requests: its page shows why, and an editor reverts it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { hungry, stage, starved } from "./support/stage.mjs";

const PAGE = "/projects/default/pipelines/hungry/tasks/eat/sizing";

const site = siteFor(async (server) => {
  const there = await stage(server);
  const runs = await hungry(there.api, [60, 60, 60, 60]);
  return { ...there, runs, past: await starved(server, there.api) };
});

for (const [lang, theme, size] of [["en", "light", "wide"], ["zh", "dark", "narrow"]]) {
  test(`the history of a task is drawn in ${lang}, ${theme}, ${size}`, async () => {
    const page = await site.open({ as: "ada", lang, theme, size });
    await page.goto(PAGE);
    await settled(page);
    assert.equal(await page.locator("[data-plot] canvas").count(), 2);
    // Actual, requested, used, recommended, and OOM kills.
    assert.equal(await page.locator("[data-plot=memory] .plot-legend button").count(), 5);
    assert.ok((await page.locator("#size-changes tbody tr").count()) >= 2);
    await page.locator("#main details summary:not(.icon-only)").press("Enter");
    assert.equal(await page.locator("#main details tbody tr").count(), site.there.past.length);
    // Spikes are distinguished from sustained usage, for all attempts longer than a second.
    const mostly = page.locator("#main details").getByText(lang === "zh" ? "95% 的时间" : "95 % of the time");
    assert.ok((await mostly.count()) >= 4);
    assert.deepEqual(await look(page, lang), []);
    await page.context().close();
  });
}

test("a task's page and an attempt lead to it, and an editor takes it back by keyboard", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto(`/runs/${site.there.runs[3]}/tasks/eat`);
  await settled(page);
  await page.getByText(/^memory .* instead of 1Gi: peaks of 3 attempts/i).waitFor();
  await page.getByRole("link", { name: "Right-sizing", exact: true }).press("Enter");
  await page.waitForURL(`**${PAGE}`);
  await settled(page);
  // The tooltip shows the values of the second to last attempt.
  const plot = page.locator("[data-plot=memory]");
  await plot.focus();
  for (let at = 0; at < 5; at += 1) await page.keyboard.press("ArrowRight");
  assert.equal(await plot.locator(".plot-tip-head").innerText(), "Attempt 5");
  await page.getByRole("button", { name: "Revert to requested" }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Revert to requested" }).press("Enter");
  await page.getByText("Reverted by emil").waitFor();
  await settled(page);
  await page.getByRole("button", { name: "Resume right-sizing" }).press("Enter");
  await page.getByText("Right-sizing is resumed").waitFor();
  await settled(page);
  // The page shows where right-sizing is configured: an editor changes it for the task, an owner also for the
  // project.
  assert.match(await page.locator("[data-mode]").innerText(), /\(auto\)$/i);
  assert.equal(await page.locator("#change-mode a").count(), 1);
  await page.getByRole("link", { name: "Change for this task" }).press("Enter");
  await page.waitForURL("**/projects/default/pipelines/hungry/edit#task/eat");
  await page.context().close();
  const viewer = await site.open({ as: "vera" });
  await viewer.goto(PAGE);
  await settled(viewer);
  assert.equal(await viewer.getByRole("button", { name: "Revert to requested" }).count(), 0);
  assert.equal(await viewer.locator("#change-mode").count(), 0);
});
