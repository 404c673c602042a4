// Advice for a task: each rule in the server's wording in either language, and the link to the setting to
// change.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { flawless, look, settled, SIZES } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const SENTENCES = JSON.parse(readFileSync(new URL("../../texts/sentences/monitoring.json", import.meta.url), "utf8"));

const task = (name, needs) => `  - {name: ${name}, template: command, needs: [${needs}], resources: {cpu: 100m, memory: 64Mi}, arguments: {command: ["true"]}}\n`;
const DOCUMENT = `apiVersion: cubeloom/v1\nkind: Pipeline\nname: gang\ntasks:\n${task("load", "")}${task("train", "load")}`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  const api = server.api(server.token("emil"));
  await api("POST", "/projects/default/pipelines", { document: DOCUMENT });
  const run = await start(api, { pipeline: "gang" });
  await ended(api, run);
  return { run };
});

/** The message with this beginning, in a language, with its values. */
function said(lang, begins, values = {}) {
  const [english, chinese] = Object.entries(SENTENCES).find(([sentence]) => sentence.startsWith(begins)) ?? assert.fail(begins);
  return (lang === "zh" ? chinese : english).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? assert.fail(`${begins}: ${name}`));
}

const USED = { minutes: "15", share: "31.0 %" };
const IN_LAST = "in the last {minutes} minutes";

/** For each rule: the observation, the workers, and a change with its names. */
const RULES = {
  straggler: [`${IN_LAST} the GPU of \`{worker}\` was used {own}, those of its peers {others}: they`, { minutes: "15", worker: "worker-2", own: "97.0 %", others: "41.0 %" }, ["worker-2"],
    ["Give all workers the same amount", "DistributedSampler(dataset, shuffle=True, drop_last=True)", "dataset.shard(num_shards, index)"]],
  far_from_peers: [`${IN_LAST} the GPUs of`, { minutes: "15", worker: "worker-1", own: "180", others: "400" }, ["worker-1"],
    ["If it is always the same node", undefined, undefined, "preflight"]],
  held_idle: ["the GPU is allocated", { share: "0.4 %", minutes: "30" }, ["worker-0"],
    ["If it does not need a GPU", undefined, undefined, "resources.gpu"]],
  cpu_saturated: [`${IN_LAST} the GPU was used {share}, while {used} of the task's {cores} CPUs were busy, and`, { ...USED, used: "3.9", cores: "4.0", asked: "8.0" }, ["worker-0", "worker-3"],
    ["Give it its requested CPUs again", undefined, undefined, "resources.pinned"]],
  io_wait: [`${IN_LAST} the GPU was used {share}, while the task`, { ...USED, waited: "44.0 %" }, ["worker-0"],
    ["Keep the data in shared memory", undefined, "dataset.cache()", "resources.shm"]],
  regular_dips: [`${IN_LAST} the GPU stopped`, { minutes: "45", period: "300", long: "90", level: "90.0 %", share: "30.0 %" }, ["worker-0"],
    ["Write to a disk of the node", undefined, undefined, "resources.shm"]],
  memory_empty: [`${IN_LAST} the GPU was used {share}, and at most {peak} of its {total} of memory was in use: by`, { minutes: "30", share: "20.0 %", peak: "8.0 GiB", total: "80.0 GiB", n: "4" }, ["worker-0"],
    ["Share the GPU: let each worker", "torch.distributed.init_process_group(\"gloo\")", undefined, "resources.processes_per_gpu: 4"]],
};

/** The server's response about a task with this many workers, in a language. */
function answer(lang, run, count = 4) {
  const advice = Object.entries(RULES).map(([rule, [seen, values, workers, [what, pytorch, tensorflow, setting]]]) => ({
    rule, run, task: "train", workers, evidence: said(lang, seen, values), remedies: [{ what: said(lang, what), pytorch, tensorflow, setting }],
  }));
  return { attempt: 1, live: false, workers: count, advice };
}

for (const size of Object.keys(SIZES)) {
  for (const [theme, lang] of [["light", "en"], ["dark", "zh"]]) {
    test(`each piece of advice has its evidence, its names and its way to the setting: ${size}, ${theme}, ${lang}`, async () => {
      const { run } = site.there;
      const page = await site.open({ as: "emil", size, theme, lang });
      const told = answer(lang, run);
      await page.route("**/tasks/train/advice?*", (route) => route.fulfill({ json: told }));
      await page.goto(`/runs/${run}/tasks/train`);
      const card = (rule) => page.locator(`#task-advice [data-rule=${rule}]`);
      await card("held_idle").waitFor();
      for (const { rule, evidence, workers, remedies: [remedy] } of told.advice) {
        const text = await card(rule).innerText();
        // Names are shown as code, without their quotes; a sentence begins with a capital.
        const plain = (sentence) => sentence.replaceAll("`", "").toLowerCase();
        for (const part of [evidence, remedy.what]) assert.ok(text.toLowerCase().includes(plain(part)), `${rule}: ${part} is not in ${text}`);
        const names = await card(rule).locator("li code").allInnerTexts();
        for (const name of [remedy.pytorch, remedy.tensorflow, remedy.setting].filter(Boolean)) assert.ok(names.includes(name), `${rule}: ${name} is not in ${names}`);
        const seen = await card(rule).locator("p.muted").innerText();
        for (const worker of workers) assert.ok(seen.includes(worker), `${rule}: ${worker} is not in ${seen}`);
      }
      await settled(page);
      assert.deepEqual(await look(page, lang), []);
      if (process.env["PICTURES"]) await page.screenshot({ path: `${process.env["PICTURES"]}/advice-${lang}-${theme}-${size}.png`, fullPage: true });
      await card("cpu_saturated").getByRole("link").press("Enter");
      await page.waitForURL("**/projects/default/pipelines/gang/edit#task/train");
      // The form is the task's, not the pipeline's or the first task's.
      await page.locator('[data-pointer^="/tasks/1/"]').first().waitFor();
      assert.equal(await page.locator('[data-pointer^="/tasks/0/"]').count(), 0);
      flawless(page);
      await page.context().close();
    });
  }
}

test("a task with one worker does not name it", async () => {
  const { run } = site.there;
  const page = await site.open({ as: "emil" });
  await page.route("**/tasks/train/advice?*", (route) => route.fulfill({ json: answer("en", run, 1) }));
  await page.goto(`/runs/${run}/tasks/train`);
  await page.locator("#task-advice [data-rule=held_idle]").waitFor();
  assert.equal(await page.locator("#task-advice p.muted").count(), 0);
  flawless(page);
  await page.context().close();
});

test("what was advised stays while what measures the task is away, which is said above it", async () => {
  const { run } = site.there;
  const page = await site.open({ as: "emil" });
  const away = { type: "urn:cubeloom:problem:unavailable", title: "Not available now", status: 503, detail: "Prometheus is unreachable: it is away" };
  let is = "there";
  await page.route("**/tasks/train/advice?*", (route) =>
    is === "away" ? route.fulfill({ status: 503, contentType: "application/problem+json", json: away }) : route.fulfill({ json: { ...answer("en", run), live: true } }));
  await page.clock.install();
  await page.goto(`/runs/${run}/tasks/train`);
  const part = page.locator("#task-advice");
  await part.locator("[data-rule=held_idle]").waitFor();
  is = "away";
  await page.clock.runFor(61_000);
  await part.getByText(away.detail).waitFor();
  assert.equal(await part.locator("[data-rule]").count(), Object.keys(RULES).length);
  is = "there";
  await page.clock.runFor(61_000);
  await part.getByText(away.detail).waitFor({ state: "detached" });
  await page.context().close();
});
