// Takes the screenshots of docs/screenshots/editor: the states of the editor, light and dark. `make
// screenshots`. Each state is reached through the user interface. Arguments select screenshots by name.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { launch, open, session, settled } from "./support/browser.mjs";
import { field, node, ready } from "./support/editor.mjs";
import { shrink, THEMES } from "./support/pictures.mjs";
import { root, Server, until } from "./support/server.mjs";
import { ended, start } from "./support/stage.mjs";

const folder = join(root, "docs/screenshots/editor");
/** The limit for all of them together, in bytes. */
const MOST = 1_900_000;
const PATH = "/projects/default/pipelines";

/** A pipeline with a frame, a note, and a for-each task whose items take this many seconds. */
const NIGHTLY = (seconds) => `apiVersion: cubeloom/v1
kind: Pipeline
name: nightly
description: Learns from what came in yesterday.
parameters:
  day: {type: date, default: "2026-11-21"}     # which day's data
  rounds: {type: integer, default: 60}
schedule: {cron: "0 4 * * *", timezone: Europe/Berlin}
parallelism: 6
tasks:
  - name: pull
    template: command
    description: Fetches the files of the day.
    arguments: {command: [echo, "{{ params.day }}"]}
  - {name: clean, template: command, needs: [pull], arguments: {command: [echo, cleaned]}, retry: {attempts: 2, backoff: {initial: 10s}}, timeout: 30m}
  - name: features
    template: command
    needs: [clean]
    for_each: {list: [north, south, east]}
    arguments: {command: [sleep, "${seconds}"]}
    env: {LEVEL: info}
    resources: {cpu: 500m, memory: 128Mi}
  - {name: boost, template: command, needs: [features], arguments: {command: [echo, boost]}, resources: {cpu: "2", memory: 1Gi}}
  - {name: net, template: command, needs: [features], arguments: {command: [sh, -c, "echo loading; echo 'weights.bin: no such file' >&2; exit 3"]}}
  - {name: evaluate, template: command, needs: [boost, net], arguments: {command: [echo, good]}}
  - {name: report, template: command, needs: [boost], when: "params.rounds > 10", arguments: {command: [echo, reported]}}
canvas:
  positions: {pull: [0, 112], clean: [288, 112], features: [576, 112], boost: [888, 0], net: [888, 192], evaluate: [1200, 160], report: [1200, 0]}
  frames: {f1: {title: Training, tasks: [boost, net]}}
  notes: {n1: {text: "The files of a day are there at 3 in the morning.", at: [0, 288], size: [224, 96]}}
`;

const server = await Server.start();
const browser = await launch();
const wanted = process.argv.slice(2);
try {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
  const api = server.api(server.token("ada"));
  const there = await set(api);
  const state = await session(browser, server, "emil");
  if (wanted.length === 0) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const theme of THEMES) {
    for (const [name, reach] of Object.entries(STATES()).filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
      const page = await open(browser, server, { theme, state });
      const picture = (await reach(page, there)) ?? page;
      await page.locator(".spinner:not(.cv-busy *):visible").waitFor({ state: "detached" });
      await page.waitForTimeout(400);
      await picture.screenshot({ path: join(folder, `${name}-${theme}.png`) });
      await page.context().close();
    }
  }
  await there.api("POST", `/runs/${there.running}/cancel`);
  await ended(there.api, there.running);
  shrink(folder, MOST);
} finally {
  await browser.close();
  await server.stop();
}

/** Two versions, a failed run, and a run that lasts as long as the screenshots need. */
async function set(api) {
  await api("POST", PATH, { document: NIGHTLY(0).replace(/ {2}- \{name: report.*\n/, "").replace(", report: [1200, 0]", ""), message: "as it began" });
  const failed = await start(api, { pipeline: "nightly" });
  await ended(api, failed);
  const { etag } = await api("GET", `${PATH}/nightly`);
  await api("PUT", `${PATH}/nightly`, { document: NIGHTLY(600).replace("memory: 1Gi", "memory: 2Gi"), message: "report on it, too" }, { "if-match": etag });
  const running = await start(api, { pipeline: "nightly" });
  await until("the elements to run", async () => (await api("GET", `/runs/${running}/tasks/features`)).body.state === "running");
  return { api, failed, running };
}

/** How to reach each state. If it returns an element, the screenshot shows only that. */
function STATES() {
  const editor = async (page, hash = "") => {
    await page.goto(`${PATH}/nightly/edit${hash}`);
    await ready(page);
    await settled(page);
    await page.locator(".cv-stage").focus();
  };
  const pressed = (keys, then) => async (page) => {
    await editor(page);
    await page.keyboard.press(keys);
    await then(page);
  };
  const dialog = (page) => page.getByRole("dialog").waitFor();
  const drawing = async (page, from, to) => {
    const [port, target] = [await node(page, from).locator(".cv-port[data-side=out]").boundingBox(), await node(page, to).boundingBox()];
    await page.mouse.move(port.x + port.width / 2, port.y + port.height / 2);
    await page.mouse.down();
    await page.mouse.move(target.x + target.width / 2, target.y + target.height / 2, { steps: 6 });
  };
  /** All sections of a form, in a window of their height. */
  const unfolded = async (page) => {
    const folded = page.locator(".task-form .fold-head button[aria-expanded=false]");
    while ((await folded.count()) > 0) await folded.first().click();
    await page.setViewportSize({ width: 1440, height: 120 + (await page.locator(".task-form").evaluate((form) => form.scrollHeight)) });
    return page.locator(".ed-right");
  };
  return {
    "palette-search": async (page) => {
      await editor(page);
      await page.getByRole("searchbox", { name: "Search templates" }).fill("training");
    },
    connecting: async (page) => {
      await editor(page);
      await drawing(page, "evaluate", "clean");
      await page.locator(".cv-why").waitFor();
    },
    selection: async (page) => {
      await editor(page);
      for (const task of ["boost", "net"]) await node(page, task).click({ modifiers: ["Shift"] });
      await page.getByRole("toolbar", { name: "Selection" }).waitFor();
    },
    problems: async (page) => {
      await editor(page);
      await node(page, "boost").click();
      await field(page, "/tasks/3/arguments/command/0").locator("input").fill("{{ params.gone }}");
      await page.locator(".ed-right .fold-head button", { hasText: "Resources" }).click();
      await page.locator(".ed-right").getByLabel("CPU", { exact: true }).fill("64x");
      await page.locator(".ed-problems summary[data-kind=error]").click();
      await page.locator(".problem-item").nth(1).waitFor();
    },
    "form-task": async (page) => {
      await editor(page);
      await node(page, "features").click();
      return unfolded(page);
    },
    "form-pipeline": async (page) => {
      await editor(page);
      return unfolded(page);
    },
    running: async (page, { running }) => {
      await editor(page, `#run/${running}`);
      await page.locator("#task-features[data-state=running]").waitFor();
    },
    failed: async (page, { failed }) => {
      await editor(page, `#run/${failed}`);
      await node(page, "net").click();
      await page.keyboard.press("l");
      await page.locator(".ed-drawer").getByText("no such file").first().waitFor();
    },
    compared: async (page) => {
      await editor(page);
      await page.getByRole("button", { name: "Versions" }).click();
      await page.locator(".ed-version-head", { hasText: "Version 1" }).click();
      await page.locator("#task-report[data-difference=added]").waitFor();
    },
    merge: async (page, { api }) => {
      await editor(page);
      await field(page, "/description").getByRole("textbox").first().fill("Learns from the last week.");
      const { body, etag } = await api("GET", `${PATH}/nightly`);
      // Differs in each theme, so that it is a new version.
      const document = body.document.replace(/description: Learns.*/, `description: Learns from yesterday, version ${body.version + 1}.`);
      await api("PUT", `${PATH}/nightly`, { document, message: "clearer words" }, { "if-match": etag });
      await page.locator(".ed-banner").getByRole("button", { name: "Merge" }).click();
      await page.getByRole("dialog").locator("fieldset").first().waitFor();
    },
    split: async (page) => {
      await editor(page);
      await page.locator(".ed-looks [data-look=split]").click();
      await page.locator(".ed-text .cm-content").waitFor();
    },
    text: async (page) => {
      await editor(page);
      await page.locator(".ed-looks [data-look=text]").click();
      await page.locator(".ed-text .cm-content").waitFor();
    },
    far: async (page) => {
      await editor(page);
      for (let turn = 0; turn < 6; turn += 1) await page.keyboard.press("-");
      await page.locator(".cv-stage[data-detail=far]").waitFor();
    },
    commands: pressed("Control+k", dialog),
    shortcuts: pressed("?", dialog),
    "quick-add": pressed("/", dialog),
    menu: async (page) => {
      await editor(page);
      await node(page, "boost").click({ button: "right" });
      await page.getByRole("menu").waitFor();
    },
    "laying-out": async (page) => {
      // The worker never gets its script.
      await page.context().route("**/layout-worker-*.js", () => undefined);
      await editor(page);
      await page.keyboard.press("Shift+L");
      await page.locator(".cv-busy").waitFor();
    },
  };
}
