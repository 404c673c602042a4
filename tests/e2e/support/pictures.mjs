// Pictures for docs/screenshots: made small, and weighed.

import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { root } from "./server.mjs";

export const THEMES = ["light", "dark"];

/** Gives the pictures of a folder a palette; together they may have so many bytes. */
export function shrink(folder, most) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".png")).map((name) => join(folder, name));
  const tools = execFileSync(join(root, "tools/venv"), [join(root, "tests/e2e/requirements.txt")], { encoding: "utf8" }).trim();
  execFileSync(join(tools, "bin/python"), [join(root, "tests/e2e/shrink.py"), ...files], { stdio: "inherit" });
  const size = files.reduce((sum, path) => sum + statSync(path).size, 0);
  if (size > most) throw new Error(`the pictures have ${size} bytes, more than ${most}`);
  console.log(`${files.length} pictures in ${folder}, ${Math.round(size / 1000)} kB`);
}
