// Measures the editor's canvas beside bare xyflow with the same nodes, in headless Chromium, in one run, in turns.
// For each move of a gesture: what the page's main thread does until the next one, from a trace. Prints Markdown.
//
//   npm run bench [-- ROUNDS [SIZES [KINDS]]], e.g. 3 1000,5000 culled,ours

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));
const ROUNDS = Number(process.argv[2] ?? 3);
const MOVES = 60;
const NAMES = { bare: "xyflow", culled: "xyflow, only what is in sight", ours: "Cubeloom" };
const SIZES = (process.argv[3] ?? "1000,2122,5000").split(",").map(Number);
const KINDS = (process.argv[4] ?? "bare,culled,ours").split(",");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

async function serve() {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    readFile(join(here, "dist", path === "/" ? "index.html" : path)).then(
      (file) => response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/html" }).end(file),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** The main thread's work for each step of a gesture, in milliseconds. */
async function trace(page, steps) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["disabled-by-default-devtools.timeline", "devtools.timeline", "blink.user_timing", "toplevel"] } });
  for (let index = 0; index < steps.length; index += 1) {
    await page.evaluate((mark) => performance.mark(mark), `step-${index}`);
    await steps[index]();
    await frame(page);
  }
  await page.evaluate(() => performance.mark("step-end"));
  const ended = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.end");
  await ended;
  await session.detach();
  const marks = events.filter((event) => event.name.startsWith("step-") && event.cat.includes("user_timing")).sort((a, b) => a.ts - b.ts);
  const main = marks[0];
  const tasks = events.filter((event) => event.name === "RunTask" && event.ph === "X" && event.pid === main.pid && event.tid === main.tid);
  return marks.slice(0, -1).map((mark, index) => {
    const until = marks[index + 1].ts;
    return tasks.reduce((sum, task) => (task.ts >= mark.ts && task.ts < until ? sum + task.dur / 1000 : sum), 0);
  });
}

const VIEW = { width: 1440, height: 900 };

/** Brings the middle of the graph into view at a scale; `null` shows all of it. Returns the point of a node on the screen. */
async function look(page, kind, zoom) {
  await page.evaluate(([kind, zoom, view]) => {
    const { tasks, canvas } = window.store.state.document;
    const middle = tasks[Math.floor(tasks.length / 2)].name;
    const [x, y] = canvas.positions[middle];
    const positions = Object.values(canvas.positions);
    const width = Math.max(...positions.map((p) => p[0])) + 224;
    const height = Math.max(...positions.map((p) => p[1])) + 72;
    const scale = zoom ?? Math.min(view.width / width, view.height / height) * 0.9;
    const to = zoom
      ? { zoom: scale, x: view.width / 2 - (x + 112) * scale, y: view.height / 2 - (y + 36) * scale }
      : { zoom: scale, x: (view.width - width * scale) / 2, y: (view.height - height * scale) / 2 };
    window.spot = { x: to.x + (x + 112) * scale, y: to.y + (y + 36) * scale };
    if (kind === "ours") window.stage.camera.show(to);
    else window.flow.setViewport(to);
  }, [kind, zoom, VIEW]);
  await page.waitForTimeout(400);
  return page.evaluate(() => window.spot);
}

async function drag(page, from, { button = "left", by = 4 } = {}) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down({ button });
  await page.mouse.move(from.x + 8, from.y + 8);
  const steps = Array.from({ length: MOVES }, (_, index) => () => page.mouse.move(from.x + 8 + by * Math.sin(index / 4) * 8 + index, from.y + 8 + index * by * 0.5));
  const costs = await trace(page, steps);
  await page.mouse.up({ button });
  return costs.slice(3);
}

async function wheel(page) {
  await page.mouse.move(VIEW.width / 2, VIEW.height / 2);
  const steps = Array.from({ length: MOVES }, (_, index) => () => page.mouse.wheel(0, Math.floor(index / 20) % 2 === 0 ? -100 : 100));
  return (await trace(page, steps)).slice(3);
}

async function measure(browser, url, kind, nodes) {
  const context = await browser.newContext({ viewport: VIEW, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(`${url}/?kind=${kind}&nodes=${nodes}`);
  await page.waitForFunction(() => window.opened !== undefined, undefined, { timeout: 120_000 });
  const opened = await page.evaluate(() => window.opened);
  const found = { "open": [opened] };
  found["drag, zoomed in"] = await drag(page, await look(page, kind, 0.9));
  const empty = await look(page, kind, 0.9);
  found["pan, zoomed in"] = await drag(page, { x: empty.x, y: empty.y - 48 }, { button: kind === "ours" ? "middle" : "left" });
  found["drag, all in view"] = await drag(page, await look(page, kind, null), { by: 1 });
  await look(page, kind, null);
  found["pan, all in view"] = await drag(page, { x: 4, y: 4 }, { button: kind === "ours" ? "middle" : "left" });
  await look(page, kind, null);
  found["zoom"] = await wheel(page);
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  found["heap, MB"] = [usedSize / 1e6];
  await context.close();
  return found;
}

const at = (values, part) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];
const told = (values) => (values.length <= ROUNDS ? at(values, 0.5).toFixed(values[0] > 100 ? 0 : 1) : `${at(values, 0.5).toFixed(1)} / ${at(values, 0.95).toFixed(1)}`);

await build({ configFile: join(here, "vite.config.ts"), logLevel: "error" });
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
  console.log(`| ${nodes} nodes | ${KINDS.map((kind) => NAMES[kind]).join(" | ")} |\n|---|${KINDS.map(() => "---:|").join("")}`);
  for (const what of Object.keys(all[KINDS[0]])) console.log(`| ${what} | ${KINDS.map((kind) => told(all[kind][what])).join(" | ")} |`);
  console.log();
}
await browser.close();
server.close();
