// A log on the run's page.

import assert from "node:assert/strict";

import { settled } from "./browser.mjs";
import { eventually } from "./eventually.mjs";

/** Opens the log of the task `talk`. */
export async function openLog(site, run, { query = "", ...options } = {}) {
  const page = await site.open({ as: "ada", ...options });
  await page.goto(`/runs/${run}?tab=logs&task=talk${query}`);
  await settled(page);
  await page.locator(".log-box").waitFor();
  return page;
}

export const rows = (page) => page.locator(".log-rows .log-row");
export const button = (page, name) => page.locator(".log-bar").getByRole("button", { name, exact: true });
export const pressed = (page, name) => button(page, name).getAttribute("aria-pressed");

/** Waits for what is said of the loaded lines, or of the matches. */
export const status = (page, words) => page.locator(".log-status", { hasText: words }).waitFor();
export const found = (page, words) => eventually(async () => {
  const text = await page.locator(".log-found").innerText();
  if (words instanceof RegExp) assert.match(text, words);
  else assert.equal(text, words);
});

/** The scroll position of the lines, and its maximum. */
export const scrolled = (page) => page.locator(".log-box").evaluate((box) => ({ top: box.scrollTop, most: box.scrollHeight - box.clientHeight }));

export async function atEnd(page) {
  const { top, most } = await scrolled(page);
  assert.ok(most > 0 && most - top < 4, `${top} of ${most}`);
}
