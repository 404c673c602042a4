// Tasks with allocated GPUs on the clusters of observed.mjs, for two hours. The clusters do not exist: the
// database has the runs, and Prometheus the metrics of their pods. The server reads both as usual.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";

import { root, until } from "./server.mjs";
import { start } from "./stage.mjs";

/** Their run time, in seconds. */
const SECONDS = 7200;
/** The recorded range of their clusters: the whole run time, and as long as screenshots may take. */
export const SPAN = { before: SECONDS + 1800, after: 1800, step: 60 };
/** The size of each node, so that they fit. */
export const SIZE = { cores: 32, gibibytes: 512 };

/**
 * One per run: one that is busy on all GPUs of its node, an idle one with allocated GPUs, and one on a
 * cluster without metrics. With each worker's requests and CPU utilization.
 */
const TASKS = [
  { name: "train", cluster: "busy", node: "node-01", workers: 2, cores: 12, gibibytes: 128, gpus: 4, busy: 0.7, command: ["python3", "train.py", "--epochs=90"] },
  { name: "explore", cluster: "busy", node: "node-02", workers: 1, cores: 8, gibibytes: 64, gpus: 3, busy: 0.01, command: ["jupyter", "lab", "--no-browser"] },
  { name: "tune", cluster: "broken", workers: 1, cores: 8, gibibytes: 64, gpus: 2, busy: 0, command: ["python3", "tune.py", "--trials=40"] },
];

/** At its start on this machine: it sleeps as long as a file exists. */
const document = ({ name, workers }, gate) => `apiVersion: cubeloom/v1
kind: Pipeline
name: ${name}
tasks:
  - name: ${name}
    template: indexed
    arguments: {workers: ${workers}, command: [sh, -c, "while test -e ${gate}; do sleep 0.2; done"]}
    resources: {cpu: 100m, memory: 256Mi}
`;

/**
 * The name of the object for the first attempt of a run's task, as the server forms it for names of at most
 * 16 letters.
 */
const object = (run, task) => `cl-${task}-${createHash("sha256").update(`${run}.${task}.0.1`).digest("hex").slice(0, 10)}`;

/** Starts them. Returns the runs, by name. */
export async function begun(server, api) {
  const gate = server.write("held", "");
  const runs = {};
  for (const task of TASKS) runs[task.name] = await start(api, { document: document(task, gate) });
  for (const [name, run] of Object.entries(runs)) {
    const running = async () => (await api("GET", `/runs/${run}/tasks/${name}`)).body.state === "running";
    await until(`${name} to run`, running, () => server.says());
  }
  return runs;
}

/** Their pods, by node. */
export function pods(runs) {
  const of = ({ name, workers, cores, gibibytes, gpus, busy }) =>
    Array.from({ length: workers }, (_, at) => ({ name: `${object(runs[name], name)}-worker-${at}`, cores, gibibytes, gpus, busy }));
  return Object.fromEntries(TASKS.filter(({ node }) => node !== undefined).map((task) => [task.node, of(task)]));
}

/**
 * Moves them to their clusters, which must exist. The server is a new one afterwards, at the same address.
 */
export async function placed(server, runs) {
  await server.kill();
  // The local processes end unnoticed.
  rmSync(server.path("held"));
  const script = join(root, "tests/e2e/support/held.py");
  const tasks = TASKS.map((task) => ({ ...task, run: runs[task.name], seconds: SECONDS }));
  execFileSync("python3", [script, join(server.data, "db/cubeloom.sqlite"), JSON.stringify(tasks)], { stdio: "inherit" });
  await server.run();
}
