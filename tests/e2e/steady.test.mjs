// No layout shift while a page loads: space for dynamic content is reserved.

import assert from "node:assert/strict";
import { test } from "node:test";

import { settled, SIZES } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { PAGES, stage } from "./support/stage.mjs";

const site = siteFor(stage);

/**
 * Delays scripts until the first paint of the complete page, as on a slow connection: otherwise their layout
 * shifts would not be seen. A busy browser paints the page in parts as it parses it, which shifts things
 * without any script.
 */
async function scriptsLate(page) {
  const painted = () => document.readyState !== "loading" && performance.getEntriesByName("first-contentful-paint").length > 0;
  const shown = () => new Promise((done) => {
    const drawn = () => done((globalThis.shownAt ??= performance.now()));
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn)));
  });
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await page.waitForFunction(painted).then(() => page.evaluate(shown)).catch(() => undefined);
    // The page may have been left meanwhile.
    await route.continue().catch(() => undefined);
  });
}

/** The layout shift since the complete page was shown, as the browser computes it. */
function moved() {
  // Smaller shifts come from running timers. The editor's bar also makes space for the document's problems.
  const least = document.body.dataset.page === "pipeline-editor" ? 0.005 : 0.0005;
  return new Promise((done) => {
    const name = (node) => (node?.nodeType === 1 ? `${node.tagName.toLowerCase()}#${node.id}.${node.getAttribute("class") ?? ""}` : node?.nodeName);
    const found = [];
    const take = (list) => found.push(...list.getEntries());
    const observer = new PerformanceObserver(take);
    observer.observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => setTimeout(() => {
      take({ getEntries: () => observer.takeRecords() });
      const shown = ({ value, sources }) => `${value.toFixed(4)} ${sources.map(({ node, previousRect: a, currentRect: b }) => `${name(node)} ${a.y}+${a.height} -> ${b.y}+${b.height}`).join("; ")}`;
      if (globalThis.shownAt === undefined) return done(["it was not seen when the page was shown"]);
      done(found.filter(({ startTime, value }) => startTime > globalThis.shownAt && value > least).map(shown));
    }));
  });
}

for (const size of Object.keys(SIZES)) {
  test(`nothing moves on any page, ${size}`, async () => {
    const page = await site.open({ as: "ada", size });
    await scriptsLate(page);
    const wrong = [];
    for (const { path, signedIn = true, missing = false } of PAGES(site.there)) {
      if (!signedIn || missing) continue;
      const visited = new Set();
      const waiting = [path];
      while (waiting.length > 0) {
        const address = waiting.shift();
        if (visited.has(address)) continue;
        visited.add(address);
        await page.goto(address);
        await settled(page);
        wrong.push(...(await page.evaluate(moved)).map((what) => `${address}: ${what}`));
        const tabs = await page.locator("nav.tabs a").evaluateAll((links) => links.map((link) => link.href));
        waiting.push(...tabs.map((href) => new URL(href)).map((url) => url.pathname + url.search));
      }
    }
    await page.context().close();
    assert.deepEqual(wrong, []);
  });
}
