// Records real programs as test scenarios for the advice rules (server/monitoring/tests/scenarios/recorded):
// four PyTorch trainings on this machine's CPUs, one of which stops, and one of which has a worker with more
// work than its peers. Takes MINUTES and rewrites the files.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root, Server, until } from "./support/server.mjs";

const MINUTES = 30;
/** Seconds between two values of a scenario. */
const STEP = 30;
/** Seconds between two progress checks. */
const LOOK = 5;
/** CPUs of a worker. */
const CORES = 0.12;

const PROGRAMS = {
  gang: { says: "four workers that train together, each with as much to do", workers: 4 },
  stops: { says: "three workers that train together, until after ten minutes one of them waits for something that never comes", workers: 3, expect: "hang by steps" },
  unlike: { says: "four workers that train together, of which the last has six times as much to do in each step as the others", workers: 4, expect: "far_from_peers of worker-2" },
  alone: { says: "one worker, which writes a checkpoint every five minutes", workers: 1 },
};

const TRAIN = `
import sys, time
from pathlib import Path

import cubeloom
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

kind, folder = sys.argv[1], Path(sys.argv[2])
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
began = saved = time.monotonic()
rounds = 240 if kind == "unlike" and rank == 3 else 40
step = 0
while True:
    if kind == "stops" and rank == 1 and time.monotonic() - began > 600:
        time.sleep(86400)
    for n in range(rounds):
        rows = torch.randn(64, 256)
        loss = nn.functional.cross_entropy(model.module(rows), torch.randint(10, (64,)))
    loss = nn.functional.cross_entropy(model(rows), torch.randint(10, (64,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if rank == 0:
        cubeloom.progress(step, 1_000_000)
    if kind == "alone" and time.monotonic() - saved > 300:
        torch.save(model.state_dict(), folder / "model.pt")
        saved = time.monotonic()
    time.sleep(0.02)
`;

const task = (name) => `
  - name: ${name}
    template: pytorch
    arguments: {script: train.py, workers: ${PROGRAMS[name].workers}, args: [${name}, "{{ run.dir }}"]}
    resources: {cpu: ${CORES * 1000}m, memory: 640Mi}`;

const folder = join(root, "server/monitoring/tests/scenarios/recorded");
const day = new Date().toISOString().slice(0, 10);
const torch = execFileSync("/usr/bin/python3", ["-c", "import torch; print(torch.__version__)"], { encoding: "utf8" }).trim();

/** The mean of the points of each slot; null if it has none. */
function slots(points, began, count) {
  const found = Array.from({ length: count }, () => []);
  for (const [at, value] of points) found[Math.floor((at - began) / STEP)]?.push(value);
  return found.map((values) => (values.length ? values.reduce((a, b) => a + b) / values.length : null));
}

const series = (values) => `series ${values.map((value) => (value === null ? "-" : String(Number(value.toFixed(3))))).join(" ")}`;

const server = await Server.start({ CUBELOOM_LOCAL_MEMORY: "8Gi" });
try {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  server.write("train.py", TRAIN);
  const names = Object.keys(PROGRAMS);
  const file = server.write("pipeline.yaml", `apiVersion: cubeloom/v1\nkind: Pipeline\nname: recorded\ntasks:${names.map(task).join("")}\n`);
  server.call(["run", file, "--detach"]);
  const { id } = (await until("the run", async () => (await api("GET", "/runs")).body.items?.[0])) ?? {};
  const instances = async (name) => (await api("GET", `/runs/${id}/tasks/${name}/instances`)).body.items[0];
  await until("all to go on", async () => (await Promise.all(names.map(instances))).every((one) => one?.progress), () => "", 600);

  const began = Date.now() / 1000;
  const steps = Object.fromEntries(names.map((name) => [name, []]));
  const last = {};
  while (Date.now() / 1000 - began < MINUTES * 60) {
    for (const name of names) {
      const { step } = (await instances(name)).progress;
      steps[name].push([Date.now() / 1000, step > (last[name] ?? step) ? 1 : 0]);
      last[name] = step;
    }
    await sleep(LOOK * 1000);
  }
  const count = (MINUTES * 60) / STEP;
  for (const [name, program] of Object.entries(PROGRAMS)) {
    const { workers } = (await api("GET", `/runs/${id}/tasks/${name}/usage`)).body;
    const roles = new Map();
    for (const role of workers.map((one) => one.worker.replace(/-\d+$/, ""))) roles.set(role, (roles.get(role) ?? 0) + 1);
    const lines = [
      `# Recorded on ${day} on ${cpus().length} cores (${cpus()[0].model}) without a card, PyTorch ${torch} over gloo, other work beside it:`,
      `# ${program.says}.`,
      ...(program.expect ? [`expect: ${program.expect}`] : []),
      `hours: ${MINUTES / 60}`,
      `cores: ${CORES}`,
      // The workers have less than the half a CPU by which one must differ, and do not run for an hour.
      "far_cores: 0.05",
      "warm_up: 600",
      `workers: ${[...roles].map(([role, count]) => `${role} ${count}`).join(", ")}`,
      "cards: none",
    ];
    for (const { worker, lines: used } of workers.toSorted((a, b) => (a.worker < b.worker ? -1 : 1))) {
      for (const [measure, line, factor] of [["cpu", "cpu", 1], ["io_wait", "io_wait", 0.01]]) {
        const found = used.find((one) => one.name === line);
        if (found) lines.push(`${measure} of ${worker}: ${series(slots(found.points.map(([at, value]) => [at, value * factor]), began, count))}`);
      }
    }
    const moved = slots(steps[name], began, count).map((value) => (value === null ? null : Math.ceil(value)));
    lines.push(`step of ${workers.map((one) => one.worker).toSorted()[0]}: ${series(moved)}`);
    writeFileSync(join(folder, `${name}.txt`), `${lines.join("\n")}\n`);
  }
  await api("POST", `/runs/${id}/cancel`);
} finally {
  await server.stop();
}
