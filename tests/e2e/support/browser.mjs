// The browser, and checks of every page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

import { PASSWORD } from "./server.mjs";
import { watch } from "./settled.mjs";

export { settled } from "./settled.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const PROGRAMS = { full: "/usr/bin/chromium", shell: "/usr/bin/chromium-headless-shell" };

/** Starts the browser: the headless shell, which has the same engine at half the cost, or full Chromium. */
export const launch = (kind = "shell") =>
  chromium.launch({
    executablePath: PROGRAMS[process.env.CUBELOOM_TEST_BROWSER ?? kind],
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-quic",
      "--no-first-run",
      // Only loopback is reachable.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ],
  });

export const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };

/**
 * Each language, theme and size, and each pair of them. Accessibility is the same in both languages: axe,
 * which takes most of the time, runs in one of them.
 */
export const LOOKS = [
  { lang: "en", theme: "light", size: "wide", accessible: true },
  { lang: "en", theme: "dark", size: "narrow", accessible: true },
  { lang: "zh", theme: "dark", size: "wide", accessible: false },
  { lang: "zh", theme: "light", size: "narrow", accessible: false },
];

/** A page whose errors are collected in `page.faults`. */
export async function open(browser, server, { size = "wide", theme = "light", lang = "en", touch = false, zone, state } = {}) {
  const context = await browser.newContext({
    viewport: SIZES[size],
    locale: lang === "zh" ? "zh-CN" : "en-GB",
    timezoneId: zone,
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

/** Records errors of scripts, of the console (including CSP violations), and of the server. */
export function collect(page) {
  page.faults = [];
  watch(page);
  page.on("pageerror", (error) => page.faults.push(`script: ${error.message}`));
  page.on("console", (message) => {
    // When another program changes this machine's network, the browser aborts its requests, and the page
    // reloads.
    if (message.type() !== "error" || message.text().includes("ERR_NETWORK_CHANGED")) return;
    const address = message.location().url ?? "";
    page.faults.push(`console: ${message.text()} ${address}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 500) page.faults.push(`${response.status()} ${response.url()}`);
  });
}

/** Signs in through the page. */
export async function signIn(page, name, password = PASSWORD) {
  await page.goto("/sign-in");
  await page.locator("[name=name]").fill(name);
  await page.locator("[name=password]").fill(password);
  await Promise.all([page.waitForURL((url) => url.pathname !== "/sign-in"), page.locator("main form button.primary").first().click()]);
}

/** The cookies of a signed-in user, for other pages. */
export async function session(browser, server, name) {
  const context = await browser.newContext({ baseURL: server.url });
  const answer = await context.request.post("/api/v1/session", { data: { name, password: PASSWORD }, headers: { origin: server.url } });
  assert.equal(answer.status(), 201, await answer.text());
  const state = await context.storageState();
  await context.close();
  // Language and theme are set for each page.
  return { ...state, cookies: state.cookies.filter((cookie) => !["lang", "theme"].includes(cookie.name)) };
}

/** The frame that all pages share. */
const AROUND = [".side", ".skip", "#toasts"];

/**
 * The problems of the shown page. Axe checks all of it; without `around` only the page's own content; or only
 * the open modal dialog.
 */
export async function look(page, lang, { accessible = true, around = true, dialog = false } = {}) {
  const found = [...page.faults];
  page.faults.length = 0;
  found.push(...(await page.evaluate(overflow)));
  found.push(...(await page.evaluate(words, lang)));
  if (!accessible) return found;
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const part = { ...(around ? {} : { exclude: AROUND }), ...(dialog ? { include: ["dialog[open], [role=dialog]"] } : {}) };
  const violations = await page.evaluate(faults, part);
  for (const each of violations) found.push(`axe ${each.id}: ${each.nodes.join("; ")}`);
  return found;
}

/**
 * In the page: axe's serious findings. Rules for minor problems, and rules that are off by default, are not
 * run.
 */
async function faults(part) {
  const grave = (impact) => ["serious", "critical"].includes(impact);
  const lesser = window.axe._audit.rules.filter(({ impact }) => impact && !grave(impact));
  const rules = Object.fromEntries(lesser.map(({ id }) => [id, { enabled: false }]));
  const { violations } = await window.axe.run(Object.keys(part).length > 0 ? part : document, { resultTypes: ["violations"], preload: false, rules });
  return violations.filter(({ impact }) => grave(impact)).map(({ id, nodes }) => {
    return { id, nodes: nodes.slice(0, 3).map((node) => `${node.target.join(" ")} (${node.any[0]?.message ?? ""})`) };
  });
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

/** Untranslated texts: a raw key, a placeholder, or Chinese on an English page. */
function words(lang) {
  const found = [];
  const text = document.body.innerText;
  const key = text.match(/\b(common|sign-in|people|runs?|pipelines?|templates|storage|secrets|clusters|audit|home|projects|problems|api)\.[a-z]+(-[a-z]+)+\b/);
  if (key) found.push(`a key without a text: ${key[0]}`);
  // Programs and URLs contain braces.
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

/** Asserts that this page has had no errors so far. */
export function flawless(page) {
  assert.deepEqual(page.faults, []);
}
