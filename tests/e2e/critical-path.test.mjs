// The critical path of a run, on the graph and on the Gantt chart.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LOOKS, flawless, look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const task = (name, line, rest = "") => `  - name: ${name}\n    template: command\n    arguments: {command: [sh, -c, "${line}"]}\n${rest}`;

const DOCUMENT = `apiVersion: cubeloom/v1
kind: Pipeline
name: chained
tasks:
${task("pull", "true")}${task("train", "sleep 3", "    needs: [pull]\n")}${task("beside", "true", "    needs: [pull]\n")}${task("evaluate", "true", "    needs: [train, beside]\n")}`;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  const run = await start(api, { document: DOCUMENT });
  await ended(api, run);
  return { api, run };
});

const WORDS = {
  en: { line: /^Critical path: pull → train → evaluate, .* of /, mark: "on the critical path" },
  zh: { line: /^关键路径：pull → train → evaluate，/, mark: "位于关键路径上" },
};

for (const { lang, theme, size, accessible } of LOOKS) {
  test(`the path is marked where its toggle is on, and the choice stays: ${lang}, ${theme}, ${size}`, async () => {
    const { line, mark } = WORDS[lang];
    const page = await site.open({ as: "ada", lang, theme, size });
    await page.goto(`/runs/${site.there.run}?tab=graph`);
    await settled(page);
    assert.equal(await page.locator("#graph .dag-node.marked").count(), 0, "off at first");
    await page.locator("#run-path button").click();
    await page.locator(".run-path-line").waitFor();
    assert.match(await page.locator(".run-path-line").innerText(), line);
    assert.ok((await page.locator(".run-path-hints li").count()) >= 1, "a hint at least");
    const titles = await page.locator("#graph .dag-node.marked title").allTextContents();
    assert.ok(titles.length > 0 && titles.every((title) => title.endsWith(mark)), titles.join("; "));
    assert.ok(!titles.some((title) => title.startsWith("beside")), titles.join("; "));
    assert.match(await page.locator("#graph .dag-edge.marked").getAttribute("d"), /^M/);
    await settled(page);
    assert.deepEqual(await look(page, lang, { accessible }), []);

    await page.goto(`/runs/${site.there.run}?tab=gantt`);
    await page.locator(".run-path-line").waitFor();
    await page.locator("#gantt .gantt-row.marked").first().waitFor();
    const rows = await page.locator("#gantt .gantt-row.marked .gantt-label").evaluateAll((labels) => labels.map((label) => label.dataset.row).sort());
    assert.deepEqual(rows, ["evaluate#0", "pull#0", "train#0"]);
    await settled(page);
    assert.deepEqual(await look(page, lang, { accessible }), []);
    await page.locator("#run-path button").click();
    await page.locator(".run-path-line").waitFor({ state: "detached" });
    assert.equal(await page.locator("#gantt .gantt-row.marked").count(), 0);
    flawless(page);
    await page.context().close();
  });
}
