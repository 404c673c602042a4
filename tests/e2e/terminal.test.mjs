// A terminal of a failed task: opened, used, left, disconnected, ended; wide and narrow, light and dark.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { dialog, press } from "./support/dialog.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, start } from "./support/stage.mjs";

const BROKEN = `apiVersion: cubeloom/v1
kind: Pipeline
name: broken
tasks:
  - {name: well, template: command, arguments: {command: ["true"]}}
  - name: ill
    template: command
    resources: {cpu: 100m, memory: 64Mi}
    env: {WORD: "as it was"}
    arguments: {command: [sh, -c, "echo it broke; exit 3"]}
`;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("vera", "--project", "default", "--role", "viewer");
  const api = server.api(server.token("ada"));
  await api("POST", "/projects/default/pipelines", { document: BROKEN });
  const run = await start(api, { pipeline: "broken" });
  await ended(api, run);
  return { api, run };
});

/** The visible lines of the terminal. */
const shown = (page) => page.locator(".xterm-rows").innerText();
const shows = (page, text) => eventually(async () => {
  const all = await shown(page);
  assert.ok(text instanceof RegExp ? text.test(all) : all.includes(text), `${text} in ${all}`);
});
const status = (page) => dialog(page).getByRole("status");
const button = (page) => page.getByRole("button", { name: "Open terminal", exact: true });

async function open(as, look = {}) {
  const page = await site.open({ as, ...look });
  // Lets a test break the connection.
  await page.addInitScript(() => {
    const Plain = window.WebSocket;
    window.sockets = [];
    window.WebSocket = class extends Plain {
      constructor(...words) {
        super(...words);
        window.sockets.push(this);
      }
    };
  });
  await page.goto(`/runs/${site.there.run}/tasks/ill`);
  await settled(page);
  return page;
}

async function opened(look = {}) {
  const page = await open("emil", look);
  await page.locator("[data-do=terminal]").click();
  await Promise.race([page.locator(".xterm-rows").waitFor(), page.locator(".toast").waitFor()]);
  assert.deepEqual(await page.locator(".toast").allInnerTexts(), []);
  await shows(page, "again: sh -c");
  return page;
}

async function type(page, line) {
  await page.keyboard.type(line);
  await page.keyboard.press("Enter");
}

const entries = async (action) => {
  const { body } = await site.there.api("GET", "/projects/default/audit?limit=200");
  return body.items.filter((entry) => entry.action === action);
};

test("a terminal shows what the task had, runs it again, and its end is in the log", async () => {
  const scripts = (page) => page.evaluate(() => performance.getEntriesByType("resource").filter((one) => /\/assets\/terminal-.*\.js/.test(one.name)).length);
  assert.equal(await scripts(await open("emil")), 0, "xterm comes when it is needed");
  const page = await opened();
  assert.equal(await scripts(page), 1);
  await type(page, "echo $WORD $((6 * 7))");
  await shows(page, "as it was 42");
  await type(page, "again");
  await shows(page, "[exit code 3]");
  // The shell knows the size of its terminal.
  await type(page, "stty size");
  await shows(page, /\n\d\d \d\d\d\s/);
  // Colours, including those outside the theme, pass the content security policy.
  await type(page, "printf '\\033[38;2;200;0;100mred\\033[0m\\n'");
  await eventually(async () => {
    const red = await page.locator(".xterm-rows span", { hasText: /^red$/ }).evaluate((one) => one.style.color);
    assert.notEqual(red, "");
  });
  assert.equal((await entries("terminal.open")).length, 1);
  await press(page, "End terminal");
  await dialog(page).waitFor({ state: "detached" });
  await eventually(async () => {
    const [end] = await entries("terminal.close");
    assert.deepEqual([end?.user, end?.after.why], ["emil", "closed"]);
  });
  flawless(page);
});

test("keys are the shell's, and there is a way out without a mouse", async () => {
  const page = await opened();
  await type(page, "echo rea''dy; cat > kept");
  await shows(page, "\nready");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  await page.keyboard.type("x");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+d");
  await type(page, "od -An -c kept");
  await shows(page, "\\t 033   x");
  assert.equal(await dialog(page).count(), 1, "Escape did not close it");
  await page.keyboard.press("Control+Shift+L");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "End terminal");
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  flawless(page);
});

test("a shell that ends says so, and a lost connection comes back with what was shown", async () => {
  const page = await opened();
  await type(page, "echo $((6 * 7))");
  await shows(page, "\n42");
  await page.evaluate(() => { window.sockets.at(-1).close(); });
  await status(page).getByText("the connection was lost").waitFor();
  await status(page).getByText("ends at").waitFor();
  await shows(page, "\n42");
  await type(page, "echo $((6 * 8))");
  await shows(page, "\n48");
  await type(page, "exit");
  await status(page).getByText("The shell has ended.").waitFor();
  await dialog(page).locator(".dialog-foot").getByRole("button", { name: "Close" }).click();
  await dialog(page).waitFor({ state: "detached" });
  flawless(page);
});

test("who may not run, and what did not fail, has no terminal", async () => {
  const viewer = await open("vera");
  assert.equal(await button(viewer).count(), 0);
  const page = await open("emil");
  assert.equal(await button(page).count(), 1);
  await page.goto(`/runs/${site.there.run}/tasks/well`);
  await settled(page);
  assert.equal(await button(page).count(), 0);
  flawless(page);
});

for (const size of ["wide", "narrow"]) {
  for (const theme of ["light", "dark"]) {
    const lang = size === "wide" ? "en" : "zh";
    test(`it is well to look at, ${size}, ${theme}`, async () => {
      const page = await opened({ size, theme, lang });
      await type(page, "printf '\\033[%sm%s\\033[0m ' 31 red 32 green 33 yellow 34 blue 35 magenta 36 cyan 37 white '1;31' bold; again");
      await shows(page, "[exit code 3]");
      if (process.env.CUBELOOM_PICTURES) await page.screenshot({ path: `${process.env.CUBELOOM_PICTURES}/terminal-${size}-${theme}.png` });
      assert.deepEqual(await look(page, lang), []);
      await page.keyboard.press("Control+Shift+L");
      await page.keyboard.press("Enter");
      await dialog(page).waitFor({ state: "detached" });
    });
  }
}
