// How much script a page loads before it can be used. `npm run build` comes first.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

interface Entry {
  readonly file: string;
  readonly imports?: string[];
  readonly dynamicImports?: string[];
}

const dist = new URL("../dist/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", dist), "utf8")) as Record<string, Entry>;

/** In bytes, as it goes over the wire. */
const KB = 1000;
/** Any page. */
const PAGE = 100 * KB;
/** Pages that load more than their own module before they are ready, a tab's by its name, and an editor, which is larger. */
const MORE: Record<string, { most: number; also: string[] }> = {
  "src/pages/run.ts": { most: PAGE, also: ["metrics"] },
  "src/pages/pipeline-editor.ts": { most: 180 * KB, also: [] },
};

/** The files of entries and of all that they import statically. */
function files(entries: readonly string[]): Set<string> {
  const [seen, waiting] = [new Set<string>(), [...entries]];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const entry = manifest[name];
    if (entry === undefined) throw new Error(`the build has no ${name}`);
    if (!seen.has(entry.file)) waiting.push(...(entry.imports ?? []));
    seen.add(entry.file);
  }
  return seen;
}

function size(names: Iterable<string>): number {
  return [...names].reduce((sum, name) => sum + gzipSync(readFileSync(new URL(name, dist))).length, 0);
}

/** The modules with the texts that a page waits for, in a language. */
function texts(language: string, page: string): string[] {
  const all = `virtual:texts/${language}`;
  return [all, page === "src/pages/pipeline-editor.ts" ? `${all}/editor` : `${all}/pages`];
}

/** What a page imports later under this name; a chunk that pages share has no source of its own. */
function later(page: string, name: string): string {
  const found = manifest[page]?.dynamicImports?.find((one) => manifest[one]?.file.startsWith(`${name}-`));
  if (found === undefined) throw new Error(`${page} imports no ${name} later`);
  return found;
}

const pages = Object.keys(manifest).filter((name) => name.startsWith("src/pages/"));

test("the pages are found", () => {
  expect(pages.length).toBeGreaterThanOrEqual(15);
});

for (const page of ["", ...pages]) {
  const { most, also } = MORE[page] ?? { most: PAGE, also: [] };
  test.each(["en", "zh"])(`${page || "a page without a module"} begins with at most ${most / KB} kB of script, in %s`, (language) => {
    const own = page === "" ? [] : [page, ...also.map((name) => later(page, name))];
    expect(size(files(["src/main.ts", ...own, ...texts(language, page)]))).toBeLessThanOrEqual(most);
  });
}
