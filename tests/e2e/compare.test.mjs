// Several runs in one table: chosen in the list, and compared by what differs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

/** A metric and an output that depend on one of two parameters. */
const LINES = `apiVersion: cubeloom/v1
kind: Pipeline
name: lines
parameters: {far: {type: integer, default: 1}, name: {type: string, default: same}}
tasks:
  - name: draw
    template: command
    resources: {cpu: 100m, memory: 64Mi}
    arguments:
      command:
        - sh
        - -c
        - |
          echo "{\\"metric\\": {\\"name\\": \\"height\\", \\"value\\": $((2 * {{ params.far }}))}}" >> "$CUBELOOM_OUTPUTS"
          echo '{"output": {"lines": 1}}' >> "$CUBELOOM_OUTPUTS"
`;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  await api("POST", "/projects/default/pipelines", { document: LINES });
  const runs = [];
  for (const far of [1, 3, 4]) {
    const run = await start(api, { pipeline: "lines", parameters: { far } });
    assert.equal(await ended(api, run), "succeeded");
    runs.push(run);
  }
  return { api, runs };
});

test("a viewer selects runs in the list and compares them in one table", async () => {
  const { runs } = site.there;
  const page = await site.open({ as: "vera" });
  await page.goto("/projects/default/runs?pipeline=lines");
  await settled(page);
  const tick = (run) => page.locator(`#run-${run} input[name=run]`);
  const link = page.locator("#bulk-compare");
  await tick(runs[2]).check();
  await page.getByText("Select 2 to 10 runs to compare them.").waitFor();
  assert.ok(await link.isHidden());
  await tick(runs[0]).check();
  await tick(runs[1]).check();
  await link.click();
  await page.waitForURL((url) => url.pathname === "/projects/default/compare" && url.searchParams.get("runs") === runs.join(","));
  await settled(page);

  const table = page.locator("#comparison table");
  assert.deepEqual(await table.locator("thead a").evaluateAll((links) => links.map((one) => one.getAttribute("href"))), runs.map((run) => `/runs/${run}`));
  const row = (kind, name) => table.locator(`tbody[data-kind=${kind}] tr:has(th[scope=row]:has-text("${name}"))`);
  assert.deepEqual(await row("parameters", "far").locator("td").allInnerTexts(), ["1", "3", "4"]);
  const heights = (await row("metrics", "height").locator("td").allInnerTexts()).map((text) => text.split(/\s+/));
  assert.deepEqual(heights, [["2"], ["6", "+4"], ["8", "+6"]]);
  // Equal rows are folded away until they are shown.
  assert.equal(await row("parameters", "name").count(), 0);
  assert.equal(await row("outputs", "lines").count(), 0);
  await table.locator("tbody[data-kind=outputs]").getByText("1 equal row").waitFor();
  await page.getByLabel("Show equal rows").check();
  assert.deepEqual(await row("parameters", "name").locator("td").allInnerTexts(), ["same", "same", "same"]);
  assert.deepEqual(await row("outputs", "lines").locator("td").allInnerTexts(), ["1", "1", "1"]);
  assert.equal(await page.getByRole("link", { name: "Compare in detail" }).count(), 0, "that page takes two runs");
  flawless(page);
  await page.context().close();
});

test("two runs lead to their comparison in detail", async () => {
  const [first, second] = site.there.runs;
  const page = await site.open({ as: "vera" });
  await page.goto(`/projects/default/compare?runs=${first},${second}`);
  await settled(page);
  await page.getByRole("link", { name: "Compare in detail" }).click();
  await page.waitForURL((url) => url.pathname === `/runs/${second}/compare` && url.searchParams.get("with") === first);
  flawless(page);
  await page.context().close();
});
