// The page of a run.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
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

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  const run = await start(api, { document: DOCUMENT });
  await ended(api, run);
  return { run };
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
