// Takes the pictures of docs/screenshots: every page, light and dark, wide; some of them narrow.
// `make screenshots`. The example must have run: it is started here, and takes a minute or two.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { launch, open, session, settled } from "./support/browser.mjs";
import { root, Server } from "./support/server.mjs";
import { PAGES, stage } from "./support/stage.mjs";

const folder = join(root, "docs/screenshots");
const NARROW = ["home", "runs", "run", "pipeline"];

const server = await Server.start();
const browser = await launch();
try {
  const there = await stage(server);
  const state = await session(browser, server, "ada");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const theme of ["light", "dark"]) {
    const wide = await open(browser, server, { theme, state });
    const narrow = await open(browser, server, { theme, state, size: "narrow" });
    for (const { name, path, signedIn = true, missing } of PAGES(there)) {
      if (missing || !signedIn) continue;
      await wide.goto(path);
      await settled(wide);
      await wide.screenshot({ path: join(folder, `${name}-${theme}.png`) });
      if (!NARROW.includes(name)) continue;
      await narrow.goto(path);
      await settled(narrow);
      await narrow.screenshot({ path: join(folder, `${name}-${theme}-390.png`) });
    }
    const nobody = await open(browser, server, { theme });
    await nobody.goto("/sign-in");
    await settled(nobody);
    await nobody.screenshot({ path: join(folder, `sign-in-${theme}.png`) });
  }
  const pictures = readdirSync(folder).map((name) => join(folder, name));
  const tools = execFileSync(join(root, "tools/venv"), [join(root, "tests/e2e/requirements.txt")], { encoding: "utf8" }).trim();
  execFileSync(join(tools, "bin/python"), [join(root, "tests/e2e/shrink.py"), ...pictures], { stdio: "inherit" });
  const large = pictures.filter((path) => statSync(path).size > 150_000);
  if (large.length > 0) throw new Error(`larger than 150 kB: ${large.join(", ")}`);
  console.log(`${pictures.length} pictures in docs/screenshots`);
} finally {
  await browser.close();
  await server.stop();
}
