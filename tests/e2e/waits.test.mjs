// Why an instance is pending behind others of its task: running ones, its position, and the one it waits for.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { flawless, look } from "./support/browser.mjs";
import { until } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const sweep = (items, line) => `apiVersion: cubeloom/v1
kind: Pipeline
name: sweep
tasks:
  - name: each
    template: command
    resources: {cpu: 100m, memory: 64Mi}
    timeout: 1h
    for_each: {list: [${items}], parallelism: 2}
    arguments: {command: [sh, -c, "${line}"]}
`;

// Before the server is stopped: its jobs would go on.
after(async () => {
  if (!site.there) return;
  await site.there.api("POST", `/runs/${site.there.run}/cancel`);
  await ended(site.there.api, site.there.run);
});

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  await ended(api, await start(api, { document: sweep("1, 2, 3", "sleep 0.3") }));
  const run = await start(api, { document: sweep("1, 2, 3, 4, 5", "sleep 600") });
  const waits = async () => (await api("GET", `/runs/${run}/tasks/each/instances`)).body.items?.[4]?.wait?.why?.ahead === 2;
  await until("the last to stand in the line", waits);
  return { api, run };
});

const WORDS = {
  en: ["Pending reason", "Next when one of these ends", /estimated start in/],
  zh: ["等待原因", "以下任意一个结束后即轮到它", /任务的并行上限为 2/],
};

for (const lang of ["en", "zh"]) {
  for (const size of ["wide", "narrow"]) {
    test(`an instance says for which others of its task it waits: ${lang}, ${size}`, async () => {
      const { run } = site.there;
      const [title, turn, said] = WORDS[lang];
      const page = await site.open({ as: "vera", lang, size });
      await page.goto(`/runs/${run}/tasks/each?instance=2`);
      const why = page.locator(".callout", { hasText: title });
      await why.getByText(said).waitFor();
      const cells = () => why.locator("td").allInnerTexts();
      assert.deepEqual(await cells(), ["2", "2", "0"]);
      await why.getByText(turn).waitFor();
      const holders = await why.locator(".why-holders a").allInnerTexts();
      assert.deepEqual(holders.sort(), ["each #0", "each #1"]);
      assert.deepEqual(await look(page, lang, { accessible: lang === "en" }), []);
      // The last one shows how many are ahead of it, and no instance to wait for.
      await page.locator("#instance-4 a").click();
      await until("the last one to be shown", async () => (await cells()).join() === "2,2,2");
      assert.equal(await why.locator(".why-holders").count(), 0);
      // Each instance ahead is a link.
      await page.locator("#instance-2 a").click();
      await why.locator(".why-holders a", { hasText: "each #1" }).click();
      await page.locator("#instance-1[aria-selected]").waitFor();
      flawless(page);
      await page.context().close();
    });
  }
}
