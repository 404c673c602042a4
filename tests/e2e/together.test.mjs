// Two people edit one pipeline: the second is notified, sees the difference, and loses nothing.

import assert from "node:assert/strict";
import { test } from "node:test";

import { settled } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(stage);

async function edit(page, line) {
  const text = page.locator(".cm-content").first();
  await text.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(`# ${line}`);
}

async function save(page) {
  await page.getByRole("button", { name: /^save/i }).first().click();
}

test("the second to save is shown what the first has changed", async () => {
  const ada = await site.open({ as: "ada" });
  const emil = await site.open({ as: "emil" });
  for (const page of [ada, emil]) {
    await page.goto("/projects/default/pipelines/count?tab=text");
    await settled(page);
  }
  await edit(ada, "a line of Ada's");
  await edit(emil, "a line of Emil's");
  await save(ada);
  const version = async () => (await site.there.api("GET", "/projects/default/pipelines/count")).body.version;
  await eventually(async () => assert.equal(await version(), 3));

  await save(emil);
  const dialog = emil.getByRole("dialog");
  await dialog.waitFor();
  await dialog.getByText("a line of Ada's").first().waitFor();
  assert.equal(await version(), 3, "nothing was overwritten unasked");
  await dialog.getByRole("button", { name: /overwrite|mine/i }).click();
  await eventually(async () => assert.equal(await version(), 4));
  const { document } = (await site.there.api("GET", "/projects/default/pipelines/count")).body;
  assert.match(document, /a line of Emil's/);
});
