// Measures the editor's canvas beside bare xyflow with the same nodes, in headless Chromium, in one run, in turns.
// For each move of a gesture: what the page's main thread does until the next one (trace.mjs). Prints Markdown.
//
//   npm run bench [-- ROUNDS [SIZES [KINDS]]], e.g. 3 1000,5000 culled,ours

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";
import { costs } from "./trace.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const ROUNDS = Number(process.argv[2] ?? 3);
/** Moves of a gesture. Fewer where each takes a tenth of a second and more. */
const moves = (kind, nodes) => (kind === "ours" || nodes <= 1000 ? 60 : 24);
const NAMES = { bare: "xyflow", culled: "xyflow, only what is in sight", ours: "Cubeloom" };
const SIZES = (process.argv[3] ?? "1000,2122,5000").split(",").map(Number);
const KINDS = (process.argv[4] ?? "bare,culled,ours").split(",");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

async function serve() {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    readFile(join(here, "dist", path)).then(
      (file) => response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/html" }).end(file),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

const VIEW = { width: 1440, height: 900 };

/** Brings the middle of the graph into view at a scale; `null` shows all of it. Returns the point of a node on the screen. */
async function look(page, kind, zoom) {
  await page.evaluate(([kind, zoom]) => {
    const { tasks, canvas } = window.store.state.document;
    const box = document.querySelector(".react-flow").getBoundingClientRect();
    const middle = tasks[Math.floor(tasks.length / 2)].name;
    const { x, y } = kind === "ours" ? window.stage.scene.nodes.get(middle) : window.flow.getNode(middle).position;
    const positions = Object.values(canvas.positions);
    const width = Math.max(...positions.map((p) => p[0])) + 224;
    const height = Math.max(...positions.map((p) => p[1])) + 72;
    const scale = zoom ?? Math.min(box.width / width, box.height / height) * 0.9;
    const to = zoom
      ? { zoom: scale, x: box.width / 2 - (x + 112) * scale, y: box.height / 2 - (y + 36) * scale }
      : { zoom: scale, x: (box.width - width * scale) / 2, y: (box.height - height * scale) / 2 };
    const free = (at) => document.elementFromPoint(at.x, at.y)?.matches(".react-flow__pane");
    const places = Array.from({ length: 400 }, (_, index) => ({ x: box.left + box.width / 2 - 200 + (index % 20) * 20, y: box.height / 2 - 200 + Math.floor(index / 20) * 20 }));
    window.empty = () => places.find(free) ?? { x: box.left + 4, y: 4 };
    window.spot = { x: box.left + to.x + (x + 112) * scale, y: box.top + to.y + (y + 36) * scale };
    if (kind === "ours") window.stage.camera.show(to);
    else window.flow.setViewport(to);
  }, [kind, zoom]);
  await page.waitForTimeout(400);
  return page.evaluate(() => ({ ...window.spot, empty: window.empty() }));
}

/** Where the node in the middle lies, and what is in view: what a gesture has changed. */
function state(page, kind) {
  return page.evaluate((kind) => {
    const { tasks, canvas } = window.store.state.document;
    const { name } = tasks[Math.floor(tasks.length / 2)];
    if (kind === "ours") return { place: canvas.positions[name].join(), view: JSON.stringify(window.stage.view) };
    const { x, y } = window.flow.getNode(name).position;
    return { place: [x, y].join(), view: JSON.stringify(window.flow.getViewport()) };
  }, kind);
}

/** A gesture has to do what its name says, else its cost would be another one's. */
async function changes(page, kind, what, gesture) {
  const before = await state(page, kind);
  const found = await gesture();
  const after = await state(page, kind);
  const [moved, viewed] = [before.place !== after.place, before.view !== after.view];
  if (moved !== (what === "place") || viewed !== (what === "view")) throw new Error(`${kind}: the ${what} should have changed alone: ${JSON.stringify({ before, after })}`);
  return found;
}

// Told to the browser by the protocol itself: Playwright's own mouse asks the page at every move of a drag.
async function mouse(session, type, { x, y }, more = {}) {
  await session.send("Input.dispatchMouseEvent", { type, x, y, ...more });
}

async function drag(page, from, { button = "left", by = 4, count }) {
  const session = await page.context().newCDPSession(page);
  const held = { button, buttons: button === "left" ? 1 : 4 };
  await mouse(session, "mouseMoved", from);
  await mouse(session, "mousePressed", from, { ...held, clickCount: 1 });
  await mouse(session, "mouseMoved", { x: from.x + 8, y: from.y + 8 }, held);
  const to = (index) => ({ x: from.x + 8 + by * Math.sin(index / 4) * 8 + index, y: from.y + 8 + index * by * 0.5 });
  const found = await costs(session, Array.from({ length: count }, (_, index) => () => mouse(session, "mouseMoved", to(index), held)));
  await mouse(session, "mouseReleased", to(count), { ...held, buttons: 0, clickCount: 1 });
  await session.detach();
  return found.slice(3);
}

async function wheel(page, count) {
  const session = await page.context().newCDPSession(page);
  const middle = { x: VIEW.width / 2, y: VIEW.height / 2 };
  await mouse(session, "mouseMoved", middle);
  const turn = (index) => ({ deltaX: 0, deltaY: Math.floor((index * 3) / count) % 2 === 0 ? -100 : 100 });
  const found = await costs(session, Array.from({ length: count }, (_, index) => () => mouse(session, "mouseWheel", middle, turn(index))));
  await session.detach();
  return found.slice(3);
}

async function measure(browser, url, kind, nodes) {
  const context = await browser.newContext({ viewport: VIEW });
  const page = await context.newPage();
  await page.goto(`${url}/${kind === "ours" ? "ours" : "bare"}/index.html?kind=${kind}&nodes=${nodes}`);
  await page.waitForFunction(() => window.opened !== undefined, undefined, { timeout: 120_000 });
  const opened = await page.evaluate(() => window.opened);
  const found = { "open": [opened] };
  const count = moves(kind, nodes);
  const hand = { button: kind === "ours" ? "middle" : "left", count };
  const near = await look(page, kind, 0.9);
  found["drag, zoomed in"] = await changes(page, kind, "place", () => drag(page, near, { count }));
  const { empty } = await look(page, kind, 0.9);
  found["pan, zoomed in"] = await changes(page, kind, "view", () => drag(page, empty, hand));
  const far = await look(page, kind, null);
  found["drag, all in view"] = await changes(page, kind, "place", () => drag(page, far, { by: 1, count }));
  const between = (await look(page, kind, null)).empty;
  found["pan, all in view"] = await changes(page, kind, "view", () => drag(page, between, hand));
  await look(page, kind, null);
  found["zoom"] = await changes(page, kind, "view", () => wheel(page, count));
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  found["heap, MB"] = [usedSize / 1e6];
  await context.close();
  return found;
}

const at = (values, part) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

/** Median and P95 of moves by one of the clocks; the median of what is measured once a round. */
function told(values, clock) {
  if (typeof values[0] === "number") return at(values, 0.5).toFixed(values[0] > 100 ? 0 : 1);
  const costs = values.map((value) => value[clock]);
  return `${at(costs, 0.5).toFixed(1)} / ${at(costs, 0.95).toFixed(1)}`;
}

function table(title, all, clock) {
  const rows = Object.keys(all[KINDS[0]]).map((what) => `| ${what} | ${KINDS.map((kind) => told(all[kind][what], clock)).join(" | ")} |`);
  console.log([`| ${title} | ${KINDS.map((kind) => NAMES[kind]).join(" | ")} |`, `|---|${KINDS.map(() => "---:|").join("")}`, ...rows, ""].join("\n"));
}

for (const mode of ["ours", "bare"]) await build({ configFile: join(here, "vite.config.ts"), mode, logLevel: "error" });
const { server, url } = await serve();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"] });
console.log(`${cpus().length} x ${cpus()[0].model}, Chromium ${browser.version()}, headless, ${ROUNDS} rounds in turns; milliseconds of the main thread, median / P95\n`);
for (const nodes of SIZES) {
  const all = Object.fromEntries(KINDS.map((kind) => [kind, {}]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of KINDS) {
      for (const [what, values] of Object.entries(await measure(browser, url, kind, nodes))) (all[kind][what] ??= []).push(...values);
    }
  }
  table(`${nodes} nodes, by the clock`, all, "wall");
  table(`${nodes} nodes, of the processor`, all, "cpu");
}
await browser.close();
server.close();
