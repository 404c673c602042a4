// Takes the pictures of docs/screenshots/monitoring: the pages of a busy cluster, of an idle one and of one that is away, of a card,
// of who holds what and of what a task uses; light and dark, wide and narrow. `make screenshots`.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { launch, open, session, settled } from "./support/browser.mjs";
import { observed } from "./support/observed.mjs";
import { shrink, THEMES } from "./support/pictures.mjs";
import { root, Server, until } from "./support/server.mjs";
import { start } from "./support/stage.mjs";

const folder = join(root, "docs/screenshots/monitoring");
/** All of them together, in bytes. */
const MOST = 1_500_000;
/** How long the task works before its pictures are taken: its plot wants some values. */
const WORKS_S = 45;

/** A task of two workers that compute, so that there is somebody who holds something. */
const BUSY = `apiVersion: cubeloom/v1
kind: Pipeline
name: train
tasks:
  - name: fit
    template: indexed
    arguments:
      workers: 2
      command: [python3, -c, "import time\\nkept = []\\nwhile True:\\n    kept.append(bytearray(2**20))\\n    until = time.time() + 0.4\\n    while time.time() < until: pass\\n    time.sleep(0.3)"]
    resources: {cpu: 500m, memory: 256Mi}
`;

const server = await Server.start();
const browser = await launch();
let sources = [];
try {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  const run = await start(api, { document: BUSY });
  await until("the task to run", async () => (await api("GET", `/runs/${run}`)).body.state === "running", () => server.says());
  const began = Date.now();
  sources = await observed(server.folder, api);
  await until("values of its use", async () => Date.now() - began > WORKS_S * 1000, undefined, 2 * WORKS_S);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const state = await session(browser, server, "ada");
  for (const theme of THEMES) {
    for (const size of ["wide", "narrow"]) {
      const page = await open(browser, server, { theme, state, size });
      for (const [name, path] of pages(run)) {
        await page.goto(path);
        await settled(page);
        await page.locator(".spinner:visible").waitFor({ state: "detached" });
        await unfolded(page);
        await page.screenshot({ path: join(folder, `${name}-${theme}${size === "narrow" ? "-390" : ""}.png`) });
      }
      await page.context().close();
    }
  }
  await api("POST", `/runs/${run}/cancel`, {});
  shrink(folder, MOST);
} finally {
  await browser.close();
  for (const source of sources) await source.stop();
  await server.stop();
}

/** With its plots, and as tall as it is, so that nothing is cut off. */
async function unfolded(page) {
  const plots = page.locator("details:has(> summary h2)");
  if (await plots.count() > 0) await plots.first().evaluate((one) => { one.open = true; });
  await settled(page);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width: page.viewportSize().width, height: Math.max(700, height) });
  await settled(page);
}

/** What is taken, by name. */
function pages(run) {
  const clusters = ["busy", "idle", "broken"].flatMap((name) => [[name, `/clusters/${name}`], [`${name}-nodes`, `/clusters/${name}/nodes`]]);
  return [
    ...clusters,
    ["card", "/clusters/busy/gpus/GPU-node-01-0"],
    ["card-vanished", "/clusters/busy/gpus/GPU-node-03-2"],
    ["holders", "/holders"],
    ["task", `/runs/${run}/tasks/fit`],
  ];
}
