// How much script a page needs before it works: the entry of every page, its own module, what both import, its texts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { root } from "./support/server.mjs";

const dist = join(root, "frontend/dist");
const manifest = JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8"));

/** The bytes of some entries and of all that they import, each file gzipped once. */
function weigh(names) {
  const seen = new Set();
  const waiting = [...names];
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (seen.has(name)) continue;
    assert.ok(manifest[name], `the front end has ${name}: build it with make frontend`);
    seen.add(name);
    waiting.push(...(manifest[name].imports ?? []));
  }
  const files = new Set([...seen].map((name) => manifest[name].file));
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0);
}

const pages = Object.keys(manifest).filter((name) => /^src\/pages\/.*\.ts$/.test(name) && name !== "src/pages/pipeline-editor.ts");

for (const language of ["en", "zh"]) {
  test(`no page needs more than 100 kB of script, in ${language}`, () => {
    assert.ok(pages.length > 5);
    for (const page of pages) {
      const bytes = weigh(["src/main.ts", `virtual:texts/${language}`, page]);
      assert.ok(bytes <= 100_000, `${page} needs ${bytes} bytes`);
    }
  });

  test(`the editor needs at most 180 kB, in ${language}; form, text and layout come later`, () => {
    const bytes = weigh(["src/main.ts", `virtual:texts/${language}`, `virtual:texts/${language}/editor`, "src/pages/pipeline-editor.ts"]);
    assert.ok(bytes <= 180_000, `${bytes} bytes`);
  });
}
