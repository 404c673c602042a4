// Two people edit one pipeline: the second is notified, sees the difference, and loses nothing.

import assert from "node:assert/strict";
import { test } from "node:test";

import { look, settled } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { count, stage } from "./support/stage.mjs";

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

test("what was merged says that it is not saved, until it is", async () => {
  await site.there.api("POST", "/projects/default/pipelines", { document: count().replace("name: count", "name: shared") });
  const stored = async () => (await site.there.api("GET", "/projects/default/pipelines/shared")).body;
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/default/pipelines/shared?tab=text");
  await settled(page);
  // At the beginning and at the end: both changes fit together.
  await edit(page, "a line of Emil's");
  const { document } = await stored();
  await site.there.api("PUT", "/projects/default/pipelines/shared", { document: `# a line of Ada's\n${document}` }, { "if-match": '"1"' });
  await save(page);
  await page.getByRole("dialog").getByRole("button", { name: "Merge both" }).click();
  const note = page.locator(".editor-foot .callout", { hasText: "Changes by ada (version 2) were merged with yours" });
  await note.waitFor();
  assert.equal((await stored()).version, 2, "a merge is not saved yet");
  assert.deepEqual((await look(page, "en", { accessible: false })).filter((fault) => !fault.includes("412")), []);
  await save(page);
  await note.waitFor({ state: "detached" });
  const saved = await stored();
  assert.equal(saved.version, 3);
  for (const line of ["a line of Ada's", "a line of Emil's"]) assert.match(saved.document, new RegExp(line));
});
