// The texts that scripts use, as modules `virtual:texts/en` and `virtual:texts/zh`, and those that come later as
// `virtual:texts/en/editor`. The server's pages read the same files; a key that no file has stops the build.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const LANGUAGES = ["en", "zh"];
// t("area.key"), plural("area.key"), and keys that a script takes from a table: /* text */ "area.key".
const USED = /(?:\bt\(\s*|\/\* text \*\/\s*)"([a-z-]+\.[a-z0-9_-]+)"/g;

type Texts = Record<string, [string, string]>;

function all(folder: string): Texts {
  const texts: Texts = {};
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
    const area = JSON.parse(readFileSync(join(folder, name), "utf8")) as Texts;
    for (const [key, both] of Object.entries(area)) texts[`${name.slice(0, -".json".length)}.${key}`] = both;
  }
  return texts;
}

function used(folder: string): Set<string> {
  const keys = new Set<string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name) || entry.name.endsWith(".test.ts")) continue;
    const source = readFileSync(join(entry.parentPath, entry.name), "utf8");
    for (const [, key] of source.matchAll(USED)) if (key) keys.add(key);
  }
  return keys;
}

// Texts that come with what shows them; all others are there from the beginning.
const SETS: Record<string, readonly string[]> = { pages: ["api", "import", "monitoring", "people", "plot", "projects", "quotas", "run", "runs", "secrets", "sizing", "storage", "terminals", "usage"], editor: ["editor", "canvas"], form: ["form", "graph"], cron: ["cron"], finder: ["finder"] };
const LATER = Object.values(SETS).flat();

export function texts(sources: string, folder: string): Plugin {
  return {
    name: "cubeloom-texts",
    resolveId: (id) => (id.startsWith("virtual:texts/") ? `\0${id}` : undefined),
    load(id) {
      const [, name = "", set] = /^\0virtual:texts\/(\w+)(?:\/(\w+))?$/.exec(id) ?? [];
      const language = LANGUAGES.indexOf(name);
      if (language < 0) return;
      const known = all(folder);
      const keys = [...used(sources)].sort();
      const unknown = keys.filter((key) => !known[key]);
      if (unknown.length > 0) this.error(`no file in texts/ has ${unknown.join(", ")}`);
      const area = (key: string) => key.slice(0, key.indexOf("."));
      const own = keys.filter((key) => (set === undefined ? !LATER.includes(area(key)) : SETS[set]?.includes(area(key))));
      return `export default ${JSON.stringify(Object.fromEntries(own.map((key) => [key, known[key]?.[language]])))};`;
    },
  };
}
