// Every page, and every tab of it: no error, no violation of the CSP or of accessibility, nothing wider than the
// window, every text in the reader's language.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { look, settled } from "./support/browser.mjs";
import { root } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { PAGES, stage } from "./support/stage.mjs";

const site = siteFor(stage);

// Each language, theme and size, and each pair of them.
const LOOKS = [
  { lang: "en", theme: "light", size: "wide" },
  { lang: "en", theme: "dark", size: "narrow" },
  { lang: "zh", theme: "dark", size: "wide" },
  { lang: "zh", theme: "light", size: "narrow" },
];

for (const { lang, theme, size } of LOOKS) {
  test(`every page in ${lang}, ${theme}, ${size}`, async () => {
    const wrong = [];
    const people = { true: await site.open({ as: "ada", lang, theme, size }), false: await site.open({ lang, theme, size }) };
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
        await settled(page);
        // The browser itself notes in its console that a page was not found.
        if (missing) page.faults = page.faults.filter((fault) => !fault.includes("404"));
        // What makes a page accessible is the same in both languages, and takes most of the time to find out.
        wrong.push(...(await look(page, lang, { accessible: lang === "en" })).map((fault) => `${address}: ${fault}`));
        const tabs = await page.locator("nav.tabs a").evaluateAll((links) => links.map((link) => link.href));
        waiting.push(...tabs.map((href) => new URL(href)).map((url) => url.pathname + url.search));
      }
    }
    for (const page of Object.values(people)) await page.context().close();
    assert.deepEqual(wrong, []);
  });
}

test("no page is left out", () => {
  const table = readFileSync(join(root, "server/web/src/policy.rs"), "utf8");
  const rows = [...table.matchAll(/row\(\s*"GET",\s*"(\/[^"]*)"/g)].map((match) => match[1]);
  const pages = rows.filter((route) => !route.startsWith("/api/") && !route.startsWith("/assets/"));
  // These lead somewhere else, give a file, are for programs, or are for one visit of somebody without an account.
  const others = ["/welcome", "/link", "/sign-in/oidc", "/sign-in/oidc/callback", "/metrics"];
  const visited = PAGES(site.there).map((page) => page.route);
  assert.deepEqual(pages.filter((route) => !visited.includes(route) && !others.includes(route)), []);
});
