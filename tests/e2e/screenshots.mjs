// Takes the screenshots of docs/screenshots: pages in light and dark, wide; some of them narrow, some in
// Chinese. `make screenshots`, which then takes those of the editor. Runs the example `digits`, which takes a
// minute or two the first time.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { launch, open, session, settled } from "./support/browser.mjs";
import { shrink, THEMES } from "./support/pictures.mjs";
import { root, Server, until } from "./support/server.mjs";
import { PAGES, ended, hungry, stage, start } from "./support/stage.mjs";

const folder = join(root, "docs/screenshots");
const NARROW = ["home", "runs", "run", "pipeline"];
/** Pages with separate screenshots: GPUs and tasks with those of clusters, which have metrics. */
const APART = ["card", "run-task", "run", "sign-in"];
/** The memory that a task's attempts need, in MiB, for the right-sizing page. */
const NEEDS = [60, 64, 58, 62, 61, 66, 59, 400, 60, 63, 62, 65];
/** The limit for all of them together, in bytes. */
const MOST = 3_800_000;

/** Downloads the example's packages with this machine's settings. */
const ways = Object.entries(process.env).filter(([name]) => /^(PIP_|UV_|SSL_|XDG_CONFIG)|_PROXY$|^HOME$/i.test(name));

const server = await Server.start({ CUBELOOM_LOCAL_CPU: "4", ...Object.fromEntries(ways) }, ["--run", join(root, "examples/digits/pipeline.yaml")]);
const browser = await launch();
try {
  const there = await stage(server);
  const state = await session(browser, server, "ada");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const digits = await example(there.api, state);
  await hungry(there.api, NEEDS);
  await all(pictures(there, digits), state);
  shrink(folder, MOST);
} finally {
  await browser.close();
  await server.stop();
}

/** Runs the example, with a screenshot during training, then again with fewer rounds. */
async function example(api, state) {
  const [run] = (await api("GET", "/projects/default/runs?pipeline=digits")).body.items;
  const watching = [];
  for (const theme of THEMES) {
    const page = await open(browser, server, { theme, state });
    await page.goto(`/runs/${run.id}`);
    watching.push({ theme, page });
  }
  const training = async () => {
    const { body } = await api("GET", `/runs/${run.id}`);
    if (body.state === "failed") throw new Error(`the example failed: ${JSON.stringify(body)}`);
    return (await api("GET", `/runs/${run.id}/tasks/boost`)).body.state === "running";
  };
  await until("the example to train", training, () => server.says(), 600);
  for (const { theme, page } of watching) {
    // Both models: the page is updated a moment after the API.
    await page.locator(".dag-node[data-state=running]").nth(1).waitFor();
    await page.screenshot({ path: join(folder, `run-live-${theme}.png`) });
    await page.context().close();
  }
  await ended(api, run.id, 300);
  const second = await start(api, { pipeline: "digits", parameters: { rounds: 30 } });
  await ended(api, second, 300);
  return { first: run.id, second };
}

/** The screenshots by name: the pages, and the tabs of the example's run. */
function pictures(there, { first, second }) {
  const own = {
    pipeline: "/projects/default/pipelines/digits",
    editor: "/projects/default/pipelines/digits/edit",
    "run-compare": `/runs/${second}/compare?with=${first}`,
    template: "/templates/indexed",
    sizing: "/projects/default/pipelines/hungry/tasks/eat/sizing",
  };
  const pages = PAGES(there).filter((page) => !APART.includes(page.name));
  // The manifests contain paths of this machine.
  const tabs = ["graph", "gantt", "table", "logs", "parameters", "outputs", "files", "metrics"];
  return [
    ...pages.map(({ name, path }) => ({ name, path: own[name] ?? path })),
    ...tabs.map((tab) => ({ name: tab === "graph" ? "run" : `run-${tab}`, path: `/runs/${first}?tab=${tab}&task=features` })),
  ];
}

async function all(wanted, state) {
  for (const theme of THEMES) {
    const wide = await open(browser, server, { theme, state });
    const narrow = await open(browser, server, { theme, state, size: "narrow" });
    for (const { name, path } of wanted) {
      await take(wide, path, `${name}-${theme}`);
      if (NARROW.includes(name)) await take(narrow, path, `${name}-${theme}-390`);
    }
    await take(await open(browser, server, { theme }), "/sign-in", `sign-in-${theme}`);
    await take(await open(browser, server, { theme, state, lang: "zh" }), "/", `home-${theme}-zh`);
  }
}

async function take(page, path, name) {
  await page.goto(path);
  await settled(page);
  await page.locator(".spinner:visible").waitFor({ state: "detached" });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
