// Measures the editor's layout beside dagre on the same graphs: how many pairs of edges cross, how long all edges are
// together, how long it takes. Prints Markdown.
//
//   npm run bench:layout [-- SIZES [PATHS...]], e.g. 100,1000 ../shared/samples/wfinstances
//
// A path is a file of WfInstances (wfcommons.org), or a folder of them; its graphs are measured after the generated ones.

import { readFileSync, readdirSync, statSync } from "node:fs";
import { cpus } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import dagre from "@dagrejs/dagre";
import { createServer } from "vite";

const SIZES = (process.argv[2] ?? "50,200,1000,2122,5000").split(",").map(Number);
const PATHS = process.argv.slice(3);
/** Dagre takes minutes for more. */
const MOST_FOR_DAGRE = 1000;
/** The least of so many times. */
const ROUNDS = 3;
/** The same gaps as ours. */
const GAPS = { rankdir: "LR", ranksep: 48, nodesep: 20, edgesep: 20 };

/** The tasks of a recorded workflow, and which come after which; versions of the format before 1.5 have no specification. */
function recorded(file) {
  const { workflow } = JSON.parse(readFileSync(file, "utf8"));
  const tasks = (workflow.specification ?? workflow).tasks;
  const known = new Set(tasks.map(({ id, name }) => id ?? name));
  const edges = tasks.flatMap(({ id, name, parents = [] }) => parents.filter((parent) => known.has(parent)).map((parent) => ({ from: parent, to: id ?? name })));
  return { name: basename(file, ".json"), ids: [...known], edges };
}

function files(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).filter((name) => name.endsWith(".json")).sort().map((name) => join(path, name));
}

/** Where dagre puts the middles of the nodes. */
function byDagre({ ids, edges }, size) {
  const graph = new dagre.graphlib.Graph().setGraph({ ...GAPS }).setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { ...size });
  for (const { from, to } of edges) graph.setEdge(from, to);
  dagre.layout(graph);
  return new Map(ids.map((id) => [id, graph.node(id)]));
}

/** Each edge as the straight line from the border of one node to that of the other: the same for both, whatever way each leads it. */
function lines(edges, middles, { width }) {
  return edges.map(({ from, to }) => {
    const [a, b] = [middles.get(from), middles.get(to)];
    return { from, to, x1: a.x + width / 2, y1: a.y, x2: b.x - width / 2, y2: b.y };
  });
}

function crossings(drawn) {
  const side = (line, x, y) => Math.sign((line.x2 - line.x1) * (y - line.y1) - (line.y2 - line.y1) * (x - line.x1));
  const apart = (a, b) => side(a, b.x1, b.y1) * side(a, b.x2, b.y2) < 0 && side(b, a.x1, a.y1) * side(b, a.x2, a.y2) < 0;
  const sorted = drawn.toSorted((a, b) => Math.min(a.x1, a.x2) - Math.min(b.x1, b.x2));
  let count = 0;
  sorted.forEach((a, index) => {
    const end = Math.max(a.x1, a.x2);
    for (let other = index + 1; other < sorted.length; other += 1) {
      const b = sorted[other];
      if (Math.min(b.x1, b.x2) > end) break;
      const joined = a.from === b.from || a.to === b.to || a.from === b.to || a.to === b.from;
      if (!joined && apart(a, b)) count += 1;
    }
  });
  return count;
}

const length = (drawn) => drawn.reduce((sum, { x1, y1, x2, y2 }) => sum + Math.hypot(x2 - x1, y2 - y1), 0);

function timed(work) {
  let [least, result] = [Infinity, undefined];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    result = work();
    least = Math.min(least, performance.now() - began);
    // The rest would take as long again, and say the same.
    if (least > 2000) break;
  }
  return { least, result };
}

function row(name, graph, layouts, size) {
  const cells = layouts.flatMap((layout) => {
    if (!layout) return ["-", "-", "-"];
    const { least, result } = timed(() => layout(graph));
    const drawn = lines(graph.edges, result, size);
    return [`${least.toFixed(0)} ms`, String(crossings(drawn)), String(Math.round(length(drawn) / 1000))];
  });
  console.log(`| ${[name, graph.ids.length, graph.edges.length, ...cells].join(" | ")} |`);
}

const vite = await createServer({
  root: fileURLToPath(new URL("..", import.meta.url)),
  configFile: false,
  logLevel: "error",
  optimizeDeps: { noDiscovery: true, include: [] },
  appType: "custom",
  server: { middlewareMode: true, ws: false, watch: null },
});
try {
  const { pipeline } = await vite.ssrLoadModule("/bench/graphs.ts");
  const { edgesOf, NODE } = await vite.ssrLoadModule("/src/graph/document.ts");
  const { layOut } = await vite.ssrLoadModule("/src/graph/layout.ts");
  const ours = ({ ids, edges }) => {
    const { nodes } = layOut(ids.map((id) => ({ id, ...NODE })), edges, "right");
    return new Map([...nodes].map(([id, { x, y, width, height }]) => [id, { x: x + width / 2, y: y + height / 2 }]));
  };
  const generated = (count) => {
    const document = pipeline(count);
    return { ids: document.tasks.map(({ name }) => name), edges: edgesOf(document) };
  };
  console.log(`${cpus()[0]?.model ?? "?"}, ${cpus().length} cores, Node.js ${process.version}; the least of ${ROUNDS} times, edges in 1,000 px\n`);
  console.log("| graph | nodes | edges | ours: time | crossings | edges | dagre: time | crossings | edges |");
  console.log("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
  const measure = (name, graph) => row(name, graph, [ours, graph.ids.length <= MOST_FOR_DAGRE && ((one) => byDagre(one, NODE))], NODE);
  for (const size of SIZES) measure("generated", generated(size));
  for (const file of PATHS.flatMap(files)) {
    const { name, ...graph } = recorded(file);
    measure(name, graph);
  }
} finally {
  await vite.close();
}
