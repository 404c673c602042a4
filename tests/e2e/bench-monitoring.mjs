// Measures the pages of a cluster of 1,000 nodes with 8 GPUs each: their load times, and how smoothly the
// grid scrolls. CUBELOOM_TEST_PROGRAM names the program, which should be a release build. docs/BENCHMARKS.md
// has the results.

import { launch, open, session } from "./support/browser.mjs";
import { KUBECONFIG } from "./support/observed.mjs";
import { prometheus, recording } from "./support/prometheus.mjs";
import { Server } from "./support/server.mjs";

const NODES = 1000;
const CARDS = 8;
const ROUNDS = 5;
/** How many moves over the grid are measured, and the steps of a move. */
const MOVES = 40;

/** Most GPUs are busy, and some of each kind need attention. */
function node(index) {
  const card = (at) => ({ usage: (index * CARDS + at) % 50 === 0 ? 0 : 0.3 + ((index * 7 + at * 3) % 70) / 100, memory: 0.8, pod: `somebody-${index}-${at}` });
  const cards = Array.from({ length: CARDS }, (_, at) => (index % 10 === 9 ? {} : card(at)));
  return { name: `node-${String(index).padStart(4, "0")}`, cores: 1, busy: (index % 100) / 100, cards };
}

const middle = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const say = (what, values) => {
  const text = (value) => String(Math.round(value)).padStart(6);
  console.log(`${what.padEnd(58)} ${text(middle(values))} ms ${text(Math.min(...values))} - ${text(Math.max(...values)).trim()}`);
};

/** The frame intervals in milliseconds, while the grid is scrolled and hovered. */
async function frames(page) {
  const box = await page.locator(".card-canvas").boundingBox();
  await page.evaluate(() => {
    globalThis.told = [];
    let before = performance.now();
    const note = (now) => {
      globalThis.told.push(now - before);
      before = now;
      globalThis.noting = requestAnimationFrame(note);
    };
    globalThis.noting = requestAnimationFrame(note);
  });
  for (let n = 0; n < MOVES; n++) {
    await page.mouse.move(box.x + ((n * 37) % box.width), 200 + ((n * 53) % 500));
    await page.mouse.wheel(0, n < MOVES / 2 ? 300 : -300);
    await page.waitForTimeout(30);
  }
  return page.evaluate(() => {
    cancelAnimationFrame(globalThis.noting);
    return globalThis.told.slice(1).toSorted((a, b) => a - b);
  });
}

const server = await Server.start();
server.user("ada", "--admin");
const api = server.api(server.token("ada"));
const text = recording(Array.from({ length: NODES }, (_, index) => node(index)), { before: 600, after: 1200, step: 120 });
const source = await prometheus(server.folder, text);
const browser = await launch("full");
try {
  const state = await session(browser, server, "ada");
  for (const [path, is] of [["", ".card-counts"], ["/nodes", ".card-canvas"]]) {
    const [heading, whole, added] = [[], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      const page = await open(browser, server, { state });
      const name = `large-${round}${path.replace("/", "-")}`;
      const add = () => api("POST", "/clusters", { name, access: "kubeconfig", kubeconfig: KUBECONFIG, prometheus: source.url });
      const remove = () => api("DELETE", `/clusters/${name}`, undefined, { "If-Match": "*" });
      const visit = async () => {
        const began = performance.now();
        await page.goto(`/clusters/${name}${path}`, { waitUntil: "commit" });
        await page.getByRole("heading", { level: 1 }).waitFor();
        const at = performance.now() - began;
        await page.locator(is).waitFor();
        return [at, performance.now() - began];
      };
      await add();
      added.push((await visit())[1]);
      await page.goto("about:blank");
      await remove();
      // A cluster that has not been viewed: the server's own result is older than the ten seconds for which
      // it is fresh.
      await add();
      await page.waitForTimeout(20_000);
      const [at, all] = await visit();
      heading.push(at);
      whole.push(all);
      if (path && round + 1 === ROUNDS) {
        const told = await frames(page);
        const at = (part) => told[Math.min(told.length - 1, Math.floor(told.length * part))];
        console.log(`frames while it is gone over: ${told.length}, median ${at(0.5).toFixed(1)} ms, P95 ${at(0.95).toFixed(1)} ms, worst ${at(1).toFixed(1)} ms`);
      }
      await page.context().close();
      await remove();
    }
    say(`${path || "/"}: its heading is there`, heading);
    say(`${path || "/"}: what was measured is there`, whole);
    say(`${path || "/"}: the same, the moment that the cluster was added`, added);
  }
} finally {
  await browser.close();
  await source.stop();
  await server.stop();
}
