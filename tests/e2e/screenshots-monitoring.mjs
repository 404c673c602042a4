// Takes the screenshots of docs/screenshots/monitoring: the pages of a busy, an idle and an unreachable
// cluster, of GPUs, of allocations, and of tasks that are busy, idle, hanging or unknown. Light and dark,
// wide and narrow. `make screenshots`.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { launch, open, session, settled, SIZES } from "./support/browser.mjs";
import { begun, placed, pods, SIZE, SPAN } from "./support/held.mjs";
import { observed } from "./support/observed.mjs";
import { shrink, THEMES } from "./support/pictures.mjs";
import { root, Server } from "./support/server.mjs";
import { ended } from "./support/stage.mjs";
import { stuck } from "./support/stuck.mjs";

const folder = join(root, "docs/screenshots/monitoring");
/** The limit for all of them together, in bytes. */
const MOST = 2_600_000;
/**
 * The plots on a task's page for a worker with Prometheus data: CPU, memory, disk, network both ways; for its
 * GPUs utilization, memory, power.
 */
const PLOTS = 8;

const server = await Server.start();
const browser = await launch();
let sources = [];
try {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  const state = await session(browser, server, "ada");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Before anything is allocated.
  await all([{ name: "holders-idle", path: "/holders" }], state);
  const runs = await begun(server, api);
  sources = await observed(server.folder, api, { pods: pods(runs), size: SIZE, span: SPAN });
  await placed(server, runs);
  const hangs = await stuck(api);
  await all([...clusters(), ...cards(), ...holders(), ...tasks(runs, hangs)], state);
  await api("POST", `/runs/${hangs}/cancel`, {});
  await ended(api, hangs);
  shrink(folder, MOST);
} finally {
  await browser.close();
  for (const source of sources) await source.stop();
  await server.stop();
}

async function all(wanted, state) {
  for (const theme of THEMES) {
    for (const size of Object.keys(SIZES)) {
      for (const one of wanted) {
        const page = await open(browser, server, { theme, state, size });
        await take(page, one, `${one.name}-${theme}${size === "narrow" ? "-390" : ""}`);
        await page.context().close();
      }
    }
  }
}

/** `opens` are the sections to unfold, `there` waits for the visible content. */
async function take(page, { path, opens = [], there = async () => undefined }, name) {
  await page.goto(path);
  await settled(page);
  for (const waits of [".spinner:visible", "#monitoring[aria-busy=true]"]) await page.locator(waits).waitFor({ state: "detached" });
  for (const selector of opens) await page.locator(selector).first().evaluate((one) => { one.open = true; });
  await there(page);
  await settled(page);
  await whole(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** The full page, so that nothing is cut off. */
async function whole(page) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width: page.viewportSize().width, height });
  await settled(page);
}

function clusters() {
  return ["busy", "idle", "broken"].flatMap((name) => [{ name, path: `/clusters/${name}` }, { name: `${name}-nodes`, path: `/clusters/${name}/nodes` }]);
}

/**
 * A busy one, an allocated but idle one with advice, one that the driver reports as unhealthy, and a missing
 * one.
 */
function cards() {
  const path = (card) => `/clusters/busy/gpus/GPU-${card}`;
  return [
    { name: "card-busy", path: path("node-01-0") },
    { name: "card-idle", path: path("node-02-0"), there: (page) => page.locator("[data-rule=held_idle]").waitFor() },
    { name: "card-broken", path: path("node-03-1") },
    { name: "card-vanished", path: path("node-03-2") },
  ];
}

/** With all allocations, and the same when the server has become unreachable. */
function holders() {
  const row = (page) => page.locator("#monitoring tbody tr").first().waitFor();
  const away = async (page) => {
    await row(page);
    await page.route("**/api/v1/holders*", (route) => route.abort());
    // A page that becomes visible again refreshes.
    await page.evaluate(() => { document.dispatchEvent(new Event("visibilitychange")); });
    await page.getByText(/Data is stale/).waitFor();
  };
  return [
    { name: "holders-busy", path: "/holders", there: row },
    { name: "holders-broken", path: "/holders", there: away },
  ];
}

function tasks({ train, explore, tune }, hangs) {
  const usage = ["#task-usage"];
  const plots = (page) => page.locator("#task-usage .plot").nth(PLOTS - 1).waitFor();
  const advice = async (page) => {
    await page.locator("#task-advice [data-rule=held_idle]").waitFor();
    await plots(page);
  };
  return [
    { name: "task-busy", path: `/runs/${train}/tasks/train`, opens: usage, there: plots },
    { name: "task-idle", path: `/runs/${explore}/tasks/explore`, opens: usage, there: advice },
    { name: "task-broken", path: `/runs/${tune}/tasks/tune`, opens: usage, there: (page) => page.getByText(/Prometheus is unreachable/).first().waitFor() },
    {
      name: "task-hang",
      path: `/runs/${hangs}/tasks/train`,
      opens: ["#task-effective details", ".stacks"],
      there: (page) => page.locator(".task-hang").waitFor(),
    },
  ];
}
