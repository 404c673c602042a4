// Goodput and hanging jobs: on the pages of the run and of the task, in both languages, themes and widths.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { LOOKS, flawless, look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, stage } from "./support/stage.mjs";
import { stuck } from "./support/stuck.mjs";

// Before the server is stopped: its jobs would go on.
after(async () => {
  await site.there.api("POST", `/runs/${site.there.run}/cancel`);
  await ended(site.there.api, site.there.run);
});

const site = siteFor(async (server) => {
  const there = await stage(server);
  return { ...there, run: await stuck(there.api) };
});

const WORDS = {
  en: ["repeated steps", "failure: storage", "train hangs", "Stack of worker-0"],
  zh: ["重复的步骤", "失败：存储", "train 疑似挂起", "worker-0 当时的调用栈"],
};

for (const { lang, theme, size, accessible } of LOOKS) {
  test(`what time went to, and what hangs: ${lang}, ${theme}, ${size}`, async () => {
    const page = await site.open({ as: "emil", lang, theme, size });
    const [again, failure, hangs, stacks] = WORDS[lang];
    await page.goto(`/runs/${site.there.run}`);
    await page.getByText(hangs).first().waitFor();
    await page.locator("#run-effective summary").click();
    await page.locator("#run-effective").getByText(failure).waitFor();
    await settled(page);
    assert.deepEqual(await look(page, lang, { accessible }), []);
    await page.goto(`/runs/${site.there.run}/tasks/train`);
    await page.locator("#task-effective summary").click();
    await page.locator("#task-effective").getByText(again).waitFor();
    assert.ok((await page.locator("#task-effective rect").count()) >= 4, "a part each");
    await page.getByText(stacks).click();
    await page.locator(".stacks pre").getByText(/thread \d+ \(sleep\)|thread \d+ \(sh\)/).first().waitFor();
    await settled(page);
    assert.deepEqual(await look(page, lang, { accessible }), []);
    if (process.env["PICTURES"]) await page.screenshot({ path: `${process.env["PICTURES"]}/${lang}-${theme}-${size}.png`, fullPage: true });
    flawless(page);
    await page.context().close();
  });
}
