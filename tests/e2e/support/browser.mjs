// The browser, and what is true of every page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

import { PASSWORD } from "./server.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const launch = () =>
  chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-quic",
      "--no-first-run",
      // Nothing but loopback is ever asked.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ],
  });

export const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };

/** A page whose faults are collected in `page.faults`. */
export async function open(browser, server, { size = "wide", theme = "light", lang = "en", touch = false, state } = {}) {
  const context = await browser.newContext({
    viewport: SIZES[size],
    locale: lang === "zh" ? "zh-CN" : "en-GB",
    colorScheme: theme,
    reducedMotion: "reduce",
    hasTouch: touch,
    baseURL: server.url,
    storageState: state,
  });
  await context.addCookies([
    { name: "lang", value: lang, url: server.url },
    { name: "theme", value: theme, url: server.url },
  ]);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  collect(page);
  return page;
}

/** Notes what must not happen: errors of scripts, of the console (among them violations of the CSP), of the server. */
export function collect(page) {
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(`script: ${error.message}`));
  page.on("console", (message) => {
    // Where another program of this machine changes its network, the browser breaks off what it loads, and the page comes again.
    if (message.type() !== "error" || message.text().includes("ERR_NETWORK_CHANGED")) return;
    const address = message.location().url ?? "";
    page.faults.push(`console: ${message.text()} ${address}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 500) page.faults.push(`${response.status()} ${response.url()}`);
  });
}

/** Signs in through the page, as a person does. */
export async function signIn(page, name, password = PASSWORD) {
  await page.goto("/sign-in");
  await page.locator("[name=name]").fill(name);
  await page.locator("[name=password]").fill(password);
  await Promise.all([page.waitForURL((url) => url.pathname !== "/sign-in"), page.locator("main form button.primary").first().click()]);
}

/** The cookies of somebody who is signed in, for other pages. */
export async function session(browser, server, name) {
  const page = await open(browser, server);
  await signIn(page, name);
  const state = await page.context().storageState();
  await page.context().close();
  // Language and theme are each page's own.
  return { ...state, cookies: state.cookies.filter((cookie) => !["lang", "theme"].includes(cookie.name)) };
}

/** How long a page may take to start, in milliseconds. */
const START = 20_000;

/** Waits until the page stands still: scripts loaded and started, nothing asked for but streams. */
export async function settled(page) {
  await page.waitForLoadState("load");
  await page.evaluate(() => document.fonts.ready);
  // What is pressed before a page has started does nothing. Pages that are written elsewhere have none of our scripts.
  await page.waitForFunction(
    () => document.documentElement.dataset.ready !== undefined || document.querySelector("body[data-page]") === null,
    undefined, { timeout: START });
  let last = "";
  for (let i = 0; i < 40; i += 1) {
    const now = await page.evaluate(() => `${document.body.scrollHeight} ${document.querySelectorAll("*").length} ${document.querySelectorAll("[aria-busy=true]").length}`);
    if (now === last && now.endsWith(" 0")) return;
    last = now;
    await page.waitForTimeout(150);
  }
}

/** What is wrong with a page as it is shown. */
export async function look(page, lang, { accessible = true } = {}) {
  const found = [...page.faults];
  page.faults.length = 0;
  found.push(...(await page.evaluate(overflow)));
  found.push(...(await page.evaluate(words, lang)));
  if (!accessible) return found;
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  for (const each of violations.filter((one) => ["serious", "critical"].includes(one.impact))) {
    const nodes = each.nodes.slice(0, 3).map((node) => `${node.target.join(" ")} (${node.any[0]?.message ?? ""})`);
    found.push(`axe ${each.id}: ${nodes.join("; ")}`);
  }
  return found;
}

function overflow() {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  const inside = (element) => {
    for (let up = element.parentElement; up; up = up.parentElement) {
      if (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(up).overflowX) && up !== document.body && up !== document.documentElement) return true;
    }
    return false;
  };
  const guilty = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > wide + 1 && !inside(one));
  const names = guilty.slice(-3).map((one) => `${one.tagName.toLowerCase()}.${one.getAttribute("class") ?? ""}`);
  return [`the page is ${document.documentElement.scrollWidth} px wide: ${names.join(", ")}`];
}

/** Texts that were not translated: a key shown as it is, a placeholder, or Chinese in an English page. */
function words(lang) {
  const found = [];
  const text = document.body.innerText;
  const key = text.match(/\b(common|sign-in|people|runs?|pipelines?|templates|storage|secrets|clusters|audit|home|projects|problems|api)\.[a-z]+(-[a-z]+)+\b/);
  if (key) found.push(`a key without a text: ${key[0]}`);
  // Programs and addresses have braces of their own.
  const shown = document.body.cloneNode(true);
  for (const one of shown.querySelectorAll("code, pre, .mono, script, .cm-editor")) one.remove();
  const open = shown.textContent.match(/\{[a-z]+\}/);
  if (open) found.push(`a placeholder without a value: ${open[0]}`);
  if (document.documentElement.lang !== lang) found.push(`lang is ${document.documentElement.lang}`);
  const main = document.querySelector("main")?.innerText ?? "";
  const chinese = (main.match(/[\u4e00-\u9fff]/g) ?? []).length;
  if (lang === "zh" && chinese === 0) found.push("no Chinese on the Chinese page");
  return found;
}

/** Nothing went wrong on this page so far. */
export function flawless(page) {
  assert.deepEqual(page.faults, []);
}
