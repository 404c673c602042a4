// Plots of runs: metrics as lines, tasks as a Gantt chart.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, stage, start } from "./support/stage.mjs";

/** Two values of a metric, whose distance is its parameter. */
const LINES = `apiVersion: cubeloom/v1
kind: Pipeline
name: lines
parameters: {far: {type: number, default: 1}}
tasks:
  - name: draw
    template: command
    arguments:
      command:
        - sh
        - -c
        - |
          for step in 0 1; do
            echo "{\\"metric\\": {\\"name\\": \\"height\\", \\"value\\": $((step * {{ params.far }})), \\"step\\": $step}}" >> "$CUBELOOM_OUTPUTS"
          done
`;

const site = siteFor(async (server) => {
  const there = await stage(server);
  const { api } = there;
  await api("POST", "/projects/default/pipelines", { document: LINES });
  await api("PUT", "/projects/default/pipelines/lines", { document: `${LINES}# another version\n` }, { "if-match": '"1"' });
  const flat = await start(api, { pipeline: "lines", version: 1 });
  const steep = await start(api, { pipeline: "lines", version: 2, parameters: { far: 3 } });
  for (const run of [flat, steep]) await ended(api, run);
  return { ...there, flat, steep };
});

/** The line colours on a plot's canvas, by pixel count. */
const painted = (plot) =>
  plot.evaluate((box) => {
    const canvas = box.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colourOf = (name) => {
      const probe = document.createElement("span");
      probe.style.color = `var(${name})`;
      box.append(probe);
      const colour = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
      probe.remove();
      return colour;
    };
    const wanted = [1, 2, 3].map((n) => colourOf(`--series-${n}`));
    const counts = wanted.map(() => 0);
    for (let at = 0; at < data.length; at += 4) {
      wanted.forEach(([r, g, b], n) => {
        if (data[at + 3] === 255 && data[at] === r && data[at + 1] === g && data[at + 2] === b) counts[n] += 1;
      });
    }
    return counts;
  });

/** The lines in a plot's legend. */
const legend = (plot) => plot.locator(".plot-legend button").allInnerTexts();

/** A plot's canvas, as an address of its pixels. */
const pixels = (plot) => plot.locator("canvas").evaluate((canvas) => canvas.toDataURL());

test("the metrics of a run are lines", async () => {
  const page = await site.open({ as: "vera" });
  await page.goto(`/runs/${site.there.second}?tab=metrics`);
  await settled(page);
  const plot = page.locator("#metrics .plot", { hasText: "loss" });
  assert.match(await plot.getAttribute("aria-label"), /^loss\. learn: 0\.16667$/, "the last of six steps");
  assert.deepEqual(await legend(plot), ["learn"]);
  const [first, second] = await painted(plot);
  assert.ok(first > 100 && second === 0, `${first} pixels of the line, ${second} of another`);
  assert.ok(await page.locator("#metrics-none").isHidden());
  await page.goto(`/runs/${site.there.broken}?tab=metrics`);
  await settled(page);
  await page.locator("#metrics-none").waitFor({ state: "visible" });
  assert.equal(await page.locator("#metrics .plot").count(), 0, "there is nothing to draw");
  flawless(page);
  await page.context().close();
});

test("a plot has a tooltip by keyboard, a CSV file and a remembered log scale", async () => {
  const page = await site.open({ as: "vera" });
  await page.goto(`/runs/${site.there.second}?tab=metrics`);
  await settled(page);
  const plot = page.locator("#metrics .plot", { hasText: "loss" });
  const tip = plot.locator(".plot-tip");
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await tip.waitFor();
  assert.match(await tip.innerText(), /^Step 1\s+learn\s+0\.5$/);
  for (let at = 2; at <= 6; at += 1) await page.keyboard.press("ArrowRight");
  assert.equal(await plot.getByRole("status").textContent(), "Step 5. learn: 0.16667", "it stays at the last step");
  const [inner, outer] = [await tip.boundingBox(), await plot.boundingBox()];
  assert.ok(inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width, JSON.stringify({ inner, outer }));
  assert.ok(inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height, JSON.stringify({ inner, outer }));
  await page.keyboard.press("Escape");
  await tip.waitFor({ state: "hidden" });

  // A click on a name hides its line, and another shows it.
  const name = plot.getByRole("button", { name: "learn", exact: true });
  await name.click();
  assert.equal(await name.getAttribute("aria-pressed"), "false");
  assert.deepEqual(await painted(plot), [0, 0, 0]);
  await name.click();
  assert.ok((await painted(plot))[0] > 100);

  const menu = plot.locator("summary");
  await menu.press("Enter");
  const coming = page.waitForEvent("download");
  await plot.getByRole("button", { name: "Download CSV" }).click();
  const file = await coming;
  assert.equal(file.suggestedFilename(), "loss.csv");
  const lines = readFileSync(await file.path(), "utf8").split("\n");
  assert.deepEqual(lines.slice(0, 3), ["Step,learn", "0,1", "1,0.5"]);
  assert.equal(lines.length, 8, "a head, six steps, and the end of the last line");

  const log = plot.getByRole("button", { name: "Log scale" });
  await menu.press("Enter");
  assert.equal(await log.getAttribute("aria-pressed"), "false");
  const linear = await pixels(plot);
  await log.click();
  assert.equal(await log.getAttribute("aria-pressed"), "true");
  const logarithmic = await pixels(plot);
  assert.notEqual(logarithmic, linear);
  const smooth = plot.getByRole("button", { name: "0.6" });
  await smooth.click();
  assert.equal(await smooth.getAttribute("aria-pressed"), "true");
  assert.notEqual(await pixels(plot), logarithmic);

  // The choices hold for all metrics. Here a value is 0.
  await page.goto(`/runs/${site.there.flat}?tab=metrics`);
  await settled(page);
  const other = page.locator("#metrics .plot", { hasText: "height" });
  await other.locator("summary").press("Enter");
  assert.equal(await other.getByRole("button", { name: "0.6" }).getAttribute("aria-pressed"), "true");
  assert.equal(await other.getByRole("button", { name: "Log scale" }).getAttribute("aria-disabled"), "true");
  await other.getByText("A log scale needs values above 0.").waitFor();
  flawless(page);
  await page.context().close();
});

test("two runs, and two versions, are two lines in one plot", async () => {
  const { flat, steep } = site.there;
  const page = await site.open({ as: "vera" });
  for (const [path, names] of [
    [`/runs/${steep}/compare?with=${flat}`, ["This run", "The other run"]],
    ["/projects/default/pipelines/lines/compare?from=1&to=2", ["Version 2", "Version 1"]],
  ]) {
    await page.goto(path);
    await settled(page);
    const plot = page.locator("#metrics .plot", { hasText: "height" });
    await plot.waitFor();
    assert.deepEqual(await legend(plot), names.map((name) => `${name}: draw`));
    const [one, two, three] = await painted(plot);
    assert.ok(one > 100 && two > 100 && three === 0, `${path}: ${one}, ${two} and ${three} pixels`);
    assert.match(await page.locator(".compare-metrics tbody tr").innerText(), /height\s+draw\s+3\s+1\s+\+2/);
  }
  flawless(page);
  await page.context().close();
});

test("each attempt is a bar with its state, as wide as it was long", async () => {
  const page = await site.open({ as: "vera" });
  const bars = async (run) => {
    await page.goto(`/runs/${run}?tab=gantt`);
    await settled(page);
    await page.locator(".gantt-row").first().waitFor();
    const of = (row) => {
      // The bar before it is the pending time.
      const bar = [...row.querySelectorAll(".gantt-bar")].at(-1);
      const { width, left } = bar?.getBoundingClientRect() ?? {};
      return [row.querySelector("[data-row]").title, { state: bar?.dataset.state, width, left }];
    };
    return Object.fromEntries(await page.locator(".gantt-row").evaluateAll((rows, text) => rows.map(new Function(`return ${text}`)()), of.toString()));
  };
  const { prepare, learn, judge } = await bars(site.there.second);
  for (const bar of [prepare, learn, judge]) assert.equal(bar.state, "succeeded");
  // Only this task slept, for a second and a half; the others' durations depend on the machine.
  const { body: { items } } = await site.there.api("GET", `/runs/${site.there.second}/attempts`);
  const took = (name) => {
    const { started_at: from, ended_at: to } = items.find(({ task }) => task === name);
    return Date.parse(to) - Date.parse(from);
  };
  const perMillisecond = learn.width / took("learn");
  assert.ok(took("learn") > 1400 && learn.width > 20, JSON.stringify(learn));
  for (const [name, bar] of Object.entries({ prepare, judge })) {
    const wanted = Math.max(3, took(name) * perMillisecond);
    assert.ok(Math.abs(bar.width - wanted) < 2, `${name}: ${bar.width} pixels, not ${wanted}`);
  }
  assert.ok(prepare.left < learn.left && learn.left + learn.width <= judge.left + 1, "one after the other");
  const broken = Object.values(await bars(site.there.broken));
  assert.ok(broken.some((bar) => bar.state === "failed" && bar.width > 0), JSON.stringify(broken));
  flawless(page);
  await page.context().close();
});
