// Nodes and GPUs: a busy cluster with all kinds of problems, an idle one, one whose Prometheus is
// unreachable.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { observed } from "./support/observed.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const running = [];
const site = siteFor(async (server) => {
  const there = await stage(server);
  running.push(...(await observed(server.folder, there.api)));
  return there;
});
after(async () => {
  for (const source of running) await source.stop();
});

/** The colours that occur on the grid's canvas. */
const colours = (page) => page.locator(".card-canvas").evaluate((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set();
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) found.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
  return found.size;
});

test("a cluster's page says what it has, what is asked for and what is used", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/clusters");
  await page.getByRole("link", { name: "busy", exact: true }).click();
  await settled(page);
  await page.getByText("Metrics source: Prometheus.").waitFor();
  const gpus = page.getByRole("img", { name: /^GPUs: 7\.\d used/ });
  assert.equal(await gpus.count(), 1, await page.locator("#monitoring").innerText());
  assert.match(await page.locator(".card-counts").innerText(), /9\s+busy\s+3\s+allocated, idle\s+8\s+free\s+10\s+free \(fragmented\)\s+1\s+unhealthy\s+1\s+missing/);
  await page.getByText(/stopped reporting in the last hour: 1, on node-03/).waitFor();
  assert.equal(await page.getByRole("link", { name: "Grafana" }).getAttribute("href"), "https://grafana.example.org/d/1");
  assert.deepEqual(await look(page, "en"), []);
  flawless(page);
});

test("the grid is gone over with keys, and leads to a card and its hour", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/clusters/busy");
  await page.getByRole("link", { name: /allocated, idle/ }).click();
  await settled(page);
  assert.equal(await page.getByLabel("Show").inputValue(), "idle");
  assert.ok((await colours(page)) > 3);
  const chosen = page.getByRole("region", { name: "Selected GPU" });
  await page.getByRole("group", { name: "Nodes with their GPUs" }).focus();
  await page.keyboard.press("ArrowRight");
  await chosen.getByRole("heading", { name: "node-01 · GPU 0" }).waitFor();
  for (let n = 0; n < 8; n++) await page.keyboard.press("ArrowRight");
  await chosen.getByRole("heading", { name: "node-02 · GPU 0" }).waitFor();
  assert.match(await chosen.innerText(), /allocated, idle[\s\S]*72 GiB of 80 GiB[\s\S]*1 not visible to you/);
  await page.keyboard.press("End");
  await chosen.getByRole("heading", { name: "node-04 · GPU 7" }).waitFor();
  const outstanding = page.getByRole("region", { name: "Needs attention" }).getByRole("row");
  // Five GPUs, and two partially free nodes.
  assert.equal(await outstanding.count(), 1 + 5 + 2);
  assert.match(await outstanding.filter({ hasText: "5 of 8 GPUs" }).first().innerText(), /free \(fragmented\)[\s\S]*node-02/);
  assert.match(await outstanding.filter({ hasText: "unhealthy" }).innerText(), /XID error 79/);
  assert.deepEqual(await look(page, "en"), []);
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "node-01 · GPU 0" }).waitFor();
  await page.getByRole("group", { name: /^Utilization, %/ }).waitFor();
  assert.match(await page.getByRole("group", { name: /^Utilization, %/ }).getAttribute("aria-label"), /Utilization: \d\d/);
  assert.deepEqual(await look(page, "en"), []);
  flawless(page);
});

test("how many links join the cards of a node is a table", async () => {
  const page = await site.open({ as: "emil" });
  const uuid = (n) => `GPU-node-01-${n}`;
  const all = [0, 1, 2, 3, 4, 5, 6, 7];
  const counts = new Map();
  const join = (a, b, count) => counts.set(`${Math.min(a, b)} ${Math.max(a, b)}`, count);
  // A cube mesh: a full mesh in each quad with two links on its diagonals, and each GPU with its counterpart
  // in the other quad.
  for (const a of all) for (const b of all) if (a < b && a >> 2 === b >> 2) join(a, b, a + b === 3 || a + b === 11 ? 2 : 1);
  for (const a of all.slice(0, 4)) join(a, a + 4, 2);
  const links = [...counts].map(([pair, count]) => { const [a, b] = pair.split(" "); return { from: uuid(a), to: uuid(b), count }; });
  await page.route("**/api/v1/clusters/busy/nodes*", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const node of body.items) if (node.name === "node-01") node.links = links;
    await route.fulfill({ response, json: body });
  });
  await page.goto("/clusters/busy/nodes");
  await settled(page);
  await page.getByRole("group", { name: "Nodes with their GPUs" }).focus();
  await page.keyboard.press("ArrowRight");
  const chosen = page.getByRole("region", { name: "Selected GPU" });
  await chosen.getByRole("heading", { name: "NVLinks between the GPUs of this node" }).waitFor();
  const rows = await chosen.locator(".card-links tbody tr").evaluateAll((found) => found.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const expected = all.map((a) => [String(a), ...all.map((b) => (a === b ? "" : String(counts.get(`${Math.min(a, b)} ${Math.max(a, b)}`) ?? 0)))]);
  assert.deepEqual(rows, expected);
  assert.deepEqual(await look(page, "en"), []);
  flawless(page);
});

test("idle clusters, vanished cards and a Prometheus that is away have their pages", async () => {
  const page = await site.open({ as: "emil", size: "narrow" });
  await page.goto("/clusters/idle/nodes");
  await settled(page);
  await page.getByText("No GPU is idle while allocated, unhealthy or missing, and no node is fragmented.").waitFor();
  assert.deepEqual(await look(page, "en"), []);
  await page.goto("/clusters/busy/gpus/GPU-node-03-2");
  await settled(page);
  await page.getByText("missing", { exact: true }).first().waitFor();
  await page.getByRole("group", { name: /^Power, W/ }).waitFor();
  assert.deepEqual(await look(page, "en"), []);
  for (const path of ["", "/nodes"]) {
    await page.goto(`/clusters/broken${path}`);
    await settled(page);
    await page.getByText(/Prometheus is unreachable/).waitFor();
    await page.getByText(path === "" ? "No GPUs found." : "No nodes found.").waitFor();
    assert.deepEqual(await look(page, "en"), []);
  }
  flawless(page);
  await page.goto("/clusters/broken/gpus/GPU-none");
  await page.getByText(/Data is stale/).waitFor();
});

test("the page stays up when the server is away, says so, and goes on", async () => {
  const page = await site.open({ as: "emil" });
  let away = false;
  await page.route("**/api/v1/clusters/idle/monitoring", (route) => (away ? route.abort() : route.continue()));
  await page.clock.install();
  await page.goto("/clusters/idle");
  await page.getByText("Metrics source: Prometheus.").waitFor();
  away = true;
  await page.clock.runFor(16_000);
  await page.getByText(/Data is stale/).waitFor();
  await page.getByRole("heading", { name: "By project" }).waitFor();
  away = false;
  await page.clock.runFor(16_000);
  await page.getByText(/Data is stale/).waitFor({ state: "detached" });
});
