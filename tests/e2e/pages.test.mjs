// Every page and every tab: no errors, no CSP or accessibility violations, nothing wider than the window, all
// text in the user's language.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { SIZES, look, settled } from "./support/browser.mjs";
import { root } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { PAGES, stage } from "./support/stage.mjs";

const site = siteFor(stage);

// Each language, theme and size. Accessibility is the same in both languages, and takes most of the time: in
// Chinese, only words and width are checked, once per size.
const LOOKS = [
  { lang: "en", theme: "light", sizes: ["wide"], accessible: true },
  { lang: "en", theme: "dark", sizes: ["narrow"], accessible: true },
  { lang: "zh", theme: "dark", sizes: ["wide", "narrow"], accessible: false },
];

for (const { lang, theme, sizes, accessible } of LOOKS) {
  test(`every page in ${lang}, ${theme}, ${sizes.join(" and ")}`, async () => {
    const wrong = [];
    const options = { lang, theme, size: sizes[0] };
    const people = { true: await site.open({ as: "ada", ...options }), false: await site.open(options) };
    // The frame around the pages is the same on each.
    let around = accessible;
    for (const { path, signedIn = true, missing = false } of PAGES(site.there)) {
      const page = people[signedIn];
      const visited = new Set();
      const waiting = [path];
      while (waiting.length > 0) {
        const address = waiting.shift();
        if (visited.has(address)) continue;
        visited.add(address);
        const answer = await page.goto(address);
        if (answer.status() !== (missing ? 404 : 200)) wrong.push(`${address}: ${answer.status()}`);
        for (const size of sizes) {
          await page.setViewportSize(SIZES[size]);
          await settled(page);
          // The browser logs missing pages in its console.
          if (missing) page.faults = page.faults.filter((fault) => !fault.includes("404"));
          wrong.push(...(await look(page, lang, { accessible, around })).map((fault) => `${address} ${size}: ${fault}`));
        }
        around = false;
        const tabs = await page.locator("nav.tabs a").evaluateAll((links) => links.map((link) => link.href));
        waiting.push(...tabs.map((href) => new URL(href)).map((url) => url.pathname + url.search));
      }
    }
    assert.deepEqual(wrong, []);
  });
}

test("no page is left out", () => {
  const table = readFileSync(join(root, "server/web/src/policy.rs"), "utf8");
  const rows = [...table.matchAll(/row\(\s*"GET",\s*"(\/[^"]*)"/g)].map((match) => match[1]);
  const pages = rows.filter((route) => !route.startsWith("/api/") && !route.startsWith("/assets/"));
  // These redirect, download, are for programs, or are for one visit without an account.
  const others = ["/welcome", "/link", "/sign-in/oidc", "/sign-in/oidc/callback", "/metrics"];
  const visited = PAGES(site.there).map((page) => page.route);
  assert.deepEqual(pages.filter((route) => !visited.includes(route) && !others.includes(route)), []);
});
