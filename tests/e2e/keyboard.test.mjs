// Keyboard only: sign in, open a pipeline, start it, view its tasks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { eventually } from "./support/eventually.mjs";
import { PASSWORD } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { PAGES, stage } from "./support/stage.mjs";

const site = siteFor(stage);

/** Presses Tab until an element with this name has a visible focus. */
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
  const page = await site.open();
  await page.goto("/sign-in");
  await page.waitForFunction(() => document.activeElement?.getAttribute("name") === "name");
  await page.keyboard.type("emil");
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname === "/");
  await settled(page);

  // The first Tab stop is a link that skips the navigation.
  await page.keyboard.press("Tab");
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("href")), "#main"));

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
  await eventually(async () => assert.ok(await dialog.evaluate((one) => one.contains(document.activeElement)), "the focus is in the dialog"));
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

/** Numbers the clickable elements in a part of the page, and returns their count. */
function mark(within) {
  const usable = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const groups = new Set();
  let count = 0;
  for (const one of document.querySelector(within).querySelectorAll(usable)) {
    const seen = one.checkVisibility({ visibilityProperty: true }) && !one.closest("[inert]");
    // Roving tabindex: the arrow keys reach the other elements; the same holds for radio buttons.
    const roving = one.tabIndex < 0 || (one.type === "radio" && groups.has(one.name));
    if (one.type === "radio") groups.add(one.name);
    if (!seen || one.disabled || roving) continue;
    one.dataset.numbered = String(count);
    count += 1;
  }
  return count;
}

/**
 * The number and name of the focused element, and whether its focus is visible, which on the canvas may take
 * some frames.
 */
async function focused() {
  const one = document.activeElement;
  const isLit = () => {
    // An outline, a thicker line on the canvas, or a frame around it.
    const around = [one, one?.parentElement, one?.closest(".editor-text"), one?.querySelector("rect"), one?.firstElementChild];
    const lit = around.some((each) => {
      const style = each && getComputedStyle(each);
      if (each instanceof SVGRectElement) return parseFloat(style.strokeWidth) >= 3;
      return style && ((style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none");
    });
    const frame = one?.parentElement && getComputedStyle(one.parentElement, "::after");
    return lit || (frame && frame.content !== "none" && parseFloat(frame.borderTopWidth) >= 2);
  };
  for (let frame = 0; frame < 10 && !isLit(); frame += 1) await new Promise(requestAnimationFrame);
  // A text editor captures Tab until Escape is pressed.
  const keeps = one?.classList.contains("cm-content") ?? false;
  return { keeps, number: one?.closest("[data-numbered]")?.dataset.numbered, name: one?.outerHTML.slice(0, 90), lit: isLit() };
}

test("Tab reaches everything on every page, and shows where it is", async () => {
  const page = await site.open({ as: "ada" });
  const wrong = [];
  // The frame around the pages is the same on each: after the first page, Tab starts with the page's own
  // content.
  let within = "body";
  for (const { path, signedIn = true, missing } of PAGES(site.there)) {
    if (!signedIn || missing) continue;
    await page.goto(path);
    await settled(page);
    const count = await page.evaluate(mark, within);
    if (within === "main") await page.locator("main").focus();
    within = "main";
    const reached = new Set();
    for (let i = 0; i < count + 20 && reached.size < count; i += 1) {
      await page.keyboard.press("Tab");
      const { keeps, number, name, lit } = await page.evaluate(focused);
      if (keeps) await page.keyboard.press("Escape");
      if (number === undefined) continue;
      if (!reached.has(number) && !lit) wrong.push(`${path}: nothing shows that this has the focus: ${name}`);
      reached.add(number);
    }
    const left = await page.evaluate((known) => {
      const all = [...document.querySelectorAll("[data-numbered]")].filter((one) => !known.includes(one.dataset.numbered));
      return all.map((one) => one.outerHTML.slice(0, 120));
    }, [...reached]);
    wrong.push(...left.map((one) => `${path}: Tab does not reach ${one}`));
  }
  assert.deepEqual(wrong, []);
});
