// The whole way with the keyboard alone: sign in, open a pipeline, start it, look at its tasks.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { flawless, launch, open, settled } from "./support/browser.mjs";
import { PASSWORD, Server } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  await stage(server);
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Presses Tab until something with this name has the focus, which must be seen. */
async function reach(page, name, most = 80) {
  for (let i = 0; i < most; i += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const one = document.activeElement;
      const style = one ? getComputedStyle(one) : undefined;
      const shown = style && (style.outlineStyle !== "none" || style.boxShadow !== "none");
      return { name: (one?.getAttribute("aria-label") ?? one?.textContent ?? "").trim(), tag: one?.tagName, shown };
    });
    if (name.test(at.name)) {
      assert.ok(at.shown, `${at.tag} ${at.name} shows that it has the focus`);
      return;
    }
  }
  assert.fail(`Tab does not reach ${name}`);
}

test("signing in, starting a run and moving in its graph need no mouse", async () => {
  const page = await open(browser, server);
  await page.goto("/sign-in");
  await page.waitForFunction(() => document.activeElement?.getAttribute("name") === "name");
  await page.keyboard.type("emil");
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname === "/");
  await settled(page);

  // The first thing is a way past the navigation.
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("href")), "#main");

  await page.goto("/projects/default/pipelines");
  await settled(page);
  await reach(page, /^count/i);
  await page.keyboard.press("Enter");
  await page.waitForURL(/pipelines\/count/);
  await settled(page);
  await reach(page, /^(run|start|run …|start a run)$/i);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  assert.ok(await dialog.evaluate((one) => one.contains(document.activeElement)), "the focus is in the dialog");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await page.keyboard.press("Enter");
  await dialog.waitFor();
  await reach(page, /^(run|start|run …|start a run)$/i);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/runs\//);
  await settled(page);
  flawless(page);
});
