// No layout shift during a run: its graph, table and Gantt chart, the list of runs and the home page update
// in place.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { start } from "./support/stage.mjs";

/** Sequential tasks that each wait for their own file; one of them has three instances. */
const STEPS = (gate) => `apiVersion: cubeloom/v1
kind: Pipeline
name: steps
tasks:
${[1, 2, 3, 4].map((at) => `  - name: step-${at}
    template: command
    ${at === 1 ? "" : `needs: [step-${at - 1}]`}
    ${at === 3 ? "for_each: {list: [a, b, c]}" : ""}
    resources: {cpu: 100m, memory: 64Mi}
    arguments: {command: [sh, -c, 'echo "{\\"progress\\": {\\"step\\": ${at}, \\"total\\": 4}}" >> "$CUBELOOM_OUTPUTS"; until test -e ${gate}-${at}; do sleep 0.1; done']}
`).join("")}`;

const site = siteFor(async (server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  const api = server.api(server.token("emil"));
  await api("POST", "/projects/default/pipelines", { document: STEPS(server.path("gate")) });
  return { api, run: await start(api, { pipeline: "steps" }) };
});

/** Records layout shifts from now on, except those that follow user input. */
function watch() {
  const name = (node) => (node?.nodeType === 1 ? `${node.tagName.toLowerCase()}#${node.id}.${node.getAttribute("class") ?? ""}` : node?.nodeName);
  window.moved = [];
  new PerformanceObserver((list) => {
    for (const { value, sources, hadRecentInput } of list.getEntries()) {
      // Smaller shifts come from running timers.
      if (hadRecentInput || value < 0.0005) continue;
      const from = sources.map(({ node, previousRect: a, currentRect: b }) => `${name(node)} ${a.x},${a.y} ${a.width}x${a.height} -> ${b.x},${b.y} ${b.width}x${b.height}`);
      window.moved.push(`${value.toFixed(4)} ${from.join("; ")}`);
    }
  }).observe({ type: "layout-shift" });
}

test("from the first task to the last nothing moves that nobody has touched", async () => {
  const { run } = site.there;
  // What shows on each page that a step has ended.
  const PAGES = {
    [`/runs/${run}?tab=graph`]: (page, done) => page.locator("#run-head .state-bar-box", { hasText: `${done}/` }),
    [`/runs/${run}?tab=table`]: (page, done) => page.locator(`#run-tab tr`, { hasText: `step-${done}` }).locator("[data-state=succeeded]").first(),
    [`/runs/${run}?tab=gantt`]: (page, done) => page.locator("#run-head .state-bar-box", { hasText: `${done}/` }),
    "/projects/default/runs": (page, done) => page.locator(`#run-${run} .state-bar-box`, { hasText: `${done}/` }),
    "/": (page, done) => page.locator("#home-running", { hasText: `${done} of 4 tasks` }),
  };
  const pages = new Map();
  for (const path of Object.keys(PAGES)) {
    const page = await site.open({ as: "emil" });
    await page.goto(path);
    await settled(page);
    await page.evaluate(watch);
    pages.set(path, page);
  }
  const moved = async (paths) => {
    const found = [];
    for (const path of paths) found.push(...(await pages.get(path).evaluate(() => window.moved)).map((what) => `${path}: ${what}`));
    return found;
  };
  for (const done of [1, 2, 3]) {
    site.server.write(`gate-${done}`, "");
    for (const [path, page] of pages) await PAGES[path](page, done).waitFor();
  }
  assert.deepEqual(await moved(pages.keys()), []);

  // On the home page, an ended run moves to another section; on all other pages nothing shifts.
  site.server.write("gate-4", "");
  const [graph, table, gantt, list] = Object.keys(PAGES);
  for (const path of [graph, table, gantt]) await pages.get(path).locator("#run-head .state.pill[data-state=succeeded]").waitFor();
  await pages.get(list).locator(`#run-${run}[data-state=succeeded]`).waitFor();
  assert.deepEqual(await moved([graph, table, gantt, list]), []);
  for (const page of pages.values()) {
    flawless(page);
    await page.context().close();
  }
});
