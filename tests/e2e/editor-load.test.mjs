// What the editor loads before any interaction: little, and nothing that is needed later.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { flawless, settled } from "./support/browser.mjs";
import { ready } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";

/** In transferred bytes, as frontend/build/budget.test.ts counts. */
const KB = 1000;
const MOST = 184 * KB;

/** Modules loaded on demand, by name; CodeMirror by a string that only it contains. */
const LATER = /\/(text-pane|log-drawer|versions-panel|code-dialog)-/;
const CODEMIRROR = /cm-content/;

// More tasks than a pipeline without a minimap has, each with a position.
const NAMES = ["a", "b", "c", "d", "e", "f"];
const DOCUMENT = `
apiVersion: cubeloom/v1
kind: Pipeline
name: six
tasks:
${NAMES.map((name, at) => `  - {name: ${name}, template: command, arguments: {command: ["true"]}${at === 0 ? "" : `, needs: [${NAMES[at - 1]}]`}}`).join("\n")}
canvas:
  positions: {${NAMES.map((name, at) => `${name}: [${at * 272}, 0]`).join(", ")}}
`;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  await server.api(server.token("ada"))("POST", "/projects/default/pipelines", { document: DOCUMENT });
});

/** A page, and the scripts loaded so far: texts by URL. */
async function watched(options) {
  const page = await site.open({ as: "ada", ...options });
  const scripts = new Map();
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.endsWith(".js")) scripts.set(pathname, response.text());
  });
  return { page, scripts, texts: async () => new Map(await Promise.all([...scripts].map(async ([path, text]) => [path, await text]))) };
}

for (const lang of ["en", "zh"]) {
  test(`until nothing more comes it is at most ${MOST / KB} kB of script, in ${lang}`, async (context) => {
    const { page, scripts, texts } = await watched({ lang });
    await page.goto("/projects/default/pipelines/six/edit");
    await ready(page);
    await page.locator(".cv-map").waitFor();
    await page.locator(".ed-right [data-pointer='/name']").waitFor();
    await settled(page);
    for (let before = -1; scripts.size > before; ) {
      before = scripts.size;
      // Preloading waits until the page is idle.
      await page.evaluate(() => new Promise((done) => { requestIdleCallback(done); }));
      await settled(page);
    }
    const loaded = await texts();
    const size = [...loaded.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
    context.diagnostic(`${loaded.size} scripts, ${(size / KB).toFixed(1)} kB gzipped`);
    assert.ok(size <= MOST, `${size} bytes`);
    assert.deepEqual([...loaded].filter(([path, text]) => LATER.test(path) || CODEMIRROR.test(text)).map(([path]) => path), []);
    // One worker computes layouts, another parses texts.
    assert.deepEqual(page.workers().map((worker) => worker.url()), []);

    // Check of the check: a layout and the text load them.
    await page.locator(".cv-stage").focus();
    await page.keyboard.press("Shift+L");
    await eventually(() => assert.match(page.workers().map((worker) => worker.url()).join(), /layout-worker-/));
    await page.locator(".ed-looks [data-look=split]").click();
    await page.locator(".ed-text .cm-content").waitFor();
    const more = await texts();
    assert.ok([...more.keys()].some((path) => LATER.test(path)) && [...more.values()].some((text) => CODEMIRROR.test(text)));
    flawless(page);
  });
}

test("a pipeline of six tasks in a row is in sight at first, beside the palette and the form", async () => {
  const { page } = await watched();
  await page.goto("/projects/default/pipelines/six/edit");
  await ready(page);
  await eventually(async () => {
    const room = await page.locator(".cv-stage").boundingBox();
    for (const name of NAMES) {
      const one = await page.locator(`#task-${name}`).boundingBox({ timeout: 1000 });
      assert.ok(one && one.x >= room.x && one.x + one.width <= room.x + room.width, `${name} is in sight`);
    }
  });
  flawless(page);
  await page.context().close();
});

for (const [what, viewport] of [["zoomed to 150 %", { width: 960, height: 600 }], ["on a phone", { width: 390, height: 844 }]]) {
  test(`${what}, Run and Save have their words, and the bar says what is saved`, async () => {
    const { page } = await watched();
    await page.setViewportSize(viewport);
    await page.goto("/projects/default/pipelines/six/edit");
    await ready(page);
    const bar = page.locator(".ed-bar");
    for (const name of ["Run", "Save"]) {
      const button = bar.getByRole("button", { name, exact: true });
      assert.equal((await button.innerText()).trim(), name);
      const { x, width } = await button.boundingBox();
      // The icon alone is narrower.
      assert.ok(width > 45 && x >= 0 && x + width <= viewport.width, `${name}: ${x} ${width}`);
    }
    const saved = bar.locator(".ed-saved");
    assert.match(await saved.innerText(), /Version 1 · saved/);
    assert.ok(await saved.isVisible());
    flawless(page);
    await page.context().close();
  });
}
