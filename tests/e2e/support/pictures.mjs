// Screenshots for docs/screenshots: compressed, with a size limit.

import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { root } from "./server.mjs";

export const THEMES = ["light", "dark"];

/** Reduces the images of a folder to a palette; `most` limits their total size in bytes. */
export function shrink(folder, most) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".png")).map((name) => join(folder, name));
  const tools = execFileSync(join(root, "tools/venv"), [join(root, "tests/e2e/requirements.txt")], { encoding: "utf8" }).trim();
  execFileSync(join(tools, "bin/python"), [join(root, "tests/e2e/shrink.py"), ...files], { stdio: "inherit" });
  const size = files.reduce((sum, path) => sum + statSync(path).size, 0);
  if (size > most) throw new Error(`the pictures have ${size} bytes, more than ${most}`);
  console.log(`${files.length} pictures in ${folder}, ${Math.round(size / 1000)} kB`);
}
