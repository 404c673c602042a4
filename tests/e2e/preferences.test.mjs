// Language and theme, chosen on the page: they apply from the first paint of every page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";

const site = siteFor((server) => { server.user("ada", "--admin"); });

const button = (page, name) => page.locator(".side-foot, .bare-head").first().getByRole("button", { name, exact: true });
const ground = () => getComputedStyle(document.documentElement).backgroundColor;
/** Whether the page background is dark. */
const isDark = async (page) => (await page.evaluate(ground)).match(/\d+(\.\d+)?/g).slice(0, 3).every((part) => Number(part) < 80);

/** Records every background colour of the page, from its first frame on. */
function keepGrounds() {
  window.grounds = new Set();
  const step = () => {
    if (document.body) window.grounds.add(`${document.documentElement.dataset.theme} ${getComputedStyle(document.documentElement).backgroundColor}`);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

test("the theme is chosen, stays, and is there with the first picture", async () => {
  const page = await site.open({ as: "ada" });
  await page.addInitScript(keepGrounds);
  await page.goto("/projects/default/runs?state=failed");
  await settled(page);
  assert.equal(await isDark(page), false);
  await button(page, "Dark").click();
  await page.locator("html[data-theme=dark]").waitFor({ state: "attached" });
  assert.equal(new URL(page.url()).search, "?state=failed", "it is the same page");
  assert.equal(await isDark(page), true);
  assert.equal(await button(page, "Dark").getAttribute("aria-pressed"), "true");

  // Scripts load late, as on a slow connection: the background never changes, neither before nor after.
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0).catch(() => undefined);
    await route.continue().catch(() => undefined);
  });
  for (const path of ["/", "/projects/default/pipelines", "/me", "/projects/default/new-pipeline/canvas"]) {
    await page.goto(path);
    await settled(page);
    const grounds = await page.evaluate(() => [...window.grounds]);
    assert.equal(grounds.length, 1, `${path}: ${grounds}`);
    assert.match(grounds[0], /^dark /);
    assert.equal(await isDark(page), true, path);
  }
  await page.unroute(/\/assets\/.*\.js$/);

  await page.goto("/me");
  await settled(page);
  await button(page, "System").click();
  await page.locator("html[data-theme=auto]").waitFor({ state: "attached" });
  assert.equal(await isDark(page), false);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await isDark(page), true);
  flawless(page);
  await page.context().close();
});

test("the language is chosen, stays, and holds for what scripts say, too", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/users?text=ada");
  await settled(page);
  await button(page, "中文").click();
  await page.locator("html[lang=zh]").waitFor({ state: "attached" });
  assert.equal(new URL(page.url()).search, "?text=ada", "it is the same page");
  await page.getByRole("heading", { name: "用户", level: 1 }).waitFor();
  await settled(page);
  await page.getByRole("button", { name: "邀请" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "生成链接" }).waitFor();
  await page.goto("/");
  await page.getByRole("heading", { name: "首页", level: 1 }).waitFor();
  await settled(page);
  await button(page, "English").click();
  await page.locator("html[lang=en]").waitFor({ state: "attached" });
  flawless(page);
  await page.context().close();
});

test("they can be chosen before signing in, and on a narrow screen", async () => {
  const page = await site.open({ size: "narrow" });
  await page.goto("/sign-in?next=%2Fme");
  await button(page, "Dark").click();
  await page.locator("html[data-theme=dark]").waitFor({ state: "attached" });
  await button(page, "中文").click();
  await page.locator("html[lang=zh][data-theme=dark]").waitFor({ state: "attached" });
  await page.locator("[name=name]").fill("ada");
  await page.locator("[name=password]").fill("correct horse battery");
  await page.locator("main form button.primary").first().click();
  await page.waitForURL("**/me");
  await page.locator("html[lang=zh][data-theme=dark]").waitFor({ state: "attached" });
  await settled(page);
  await page.getByRole("button", { name: "菜单" }).click();
  await button(page, "浅色").click();
  await page.locator("html[data-theme=light]").waitFor({ state: "attached" });
  flawless(page);
  await page.context().close();
});
