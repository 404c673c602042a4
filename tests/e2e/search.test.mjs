// A search: its trials as a plot and a table, the best of them, and a link to each.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const site = siteFor(async (server) => {
  server.user("vera", "--project", "default", "--role", "viewer");
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  const document = readFileSync(new URL("support/tuned.yaml", import.meta.url), "utf8");
  await api("POST", "/projects/default/pipelines", { document });
  const run = await start(api, { pipeline: "tuned" });
  await ended(api, run);
  return { api, run };
});

const path = () => `/runs/${site.there.run}/tasks/tune`;

test("the best trial is what the API says, in the plot, in the table and by itself", async () => {
  const page = await site.open({ as: "vera" });
  await page.goto(path());
  await settled(page);
  const { body } = await site.there.api("GET", `${path()}/search`);
  const trials = body.trials.filter((trial) => trial.value !== undefined).sort((a, b) => a.value - b.value);
  assert.equal(body.best.instance, trials[0].instance);
  assert.equal(body.trials.length, 12);
  const best = page.locator("#search-best");
  assert.equal(await best.getByRole("link").textContent(), `#${body.best.instance}`);
  await page.getByText("12 of 12 trials").waitFor();
  assert.equal(await page.locator(".parallel-trial").count(), 12);
  assert.equal(await page.locator(".parallel-trial.best title").textContent().then((title) => title.split(":")[0]), `#${body.best.instance}`);
  const ranked = await page.locator("#search-ranked tbody th").allTextContents();
  assert.deepEqual(ranked, trials.slice(0, 10).map((trial) => `#${trial.instance}`));
  const names = await page.locator(".parallel-name").allTextContents();
  assert.deepEqual(names, ["depth", "kind", "rate", "loss"]);
  flawless(page);
  await page.context().close();
});

test("a line of the plot, and a row of the table by keyboard, lead to the trial", async () => {
  const page = await site.open({ as: "vera" });
  await page.goto(path());
  await settled(page);
  const { body } = await site.there.api("GET", `${path()}/search`);
  const line = page.locator(".parallel-trial.best .parallel-reach");
  await line.scrollIntoViewIfNeeded();
  const place = await line.evaluate((line) => {
    const point = line.getPointAtLength(line.getTotalLength() / 3).matrixTransform(line.getScreenCTM());
    return [point.x, point.y];
  });
  await page.mouse.click(...place);
  await page.locator(".parallel-trial.best.chosen").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("instance"), String(body.best.instance));
  const second = page.locator("#search-ranked tbody th a").nth(1);
  const name = await second.textContent();
  await second.focus();
  await page.keyboard.press("Enter");
  await page.locator("#search-ranked tr[aria-selected=true]", { hasText: name }).waitFor();
  flawless(page);
  await page.context().close();
});

for (const [lang, theme, size] of [["en", "light", "wide"], ["zh", "dark", "narrow"]]) {
  test(`the page is whole in ${lang}, ${theme}, ${size}`, async () => {
    const page = await site.open({ as: "vera", lang, theme, size });
    await page.goto(path());
    await settled(page);
    assert.deepEqual(await look(page, lang), []);
    flawless(page);
    await page.context().close();
  });
}
