// Debian's Prometheus for the pages of clusters, with half an hour of recorded exporter metrics. It scrapes
// nothing.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { until } from "./server.mjs";

/** Half an hour, and as long as the test may take: values go on. In seconds, a value every `step`. */
const SPAN = { before: 1800, after: 900, step: 60 };

/** A free port of this machine. */
function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => { done(port); });
    });
  });
}

/**
 * The metrics of nodes with GPUs, in promtool's format. A GPU is `{usage, memory, xid, pod, from, until}`:
 * `usage` is a number from 0 to 1 or a function of the time. `from` and `until` are seconds from now; outside
 * of that range the GPU is missing. A pod of a node is `{name, cores, gibibytes, gpus, busy}`: its requests
 * and its CPU utilization.
 */
export function recording(nodes, { before, after, step } = SPAN) {
  const now = Math.floor(Date.now() / 1000);
  const metrics = new Map();
  const put = (name, labels, value) => {
    const text = Object.entries(labels).map(([label, is]) => `${label}=${JSON.stringify(String(is))}`).join(",");
    const lines = metrics.get(name) ?? metrics.set(name, []).get(name);
    for (let at = -before; at <= after; at += step) {
      const is = value(at);
      if (is !== null) lines.push(`${name}{${text}} ${is} ${now + at}`);
    }
  };
  for (const { name, cores = 4, gibibytes = 64, busy = 0.5, cards, pods = [] } of nodes) {
    for (const pod of pods) recordPod(put, name, pod, before);
    const instance = `${name}:9100`;
    for (const [resource, is] of [["cpu", cores], ["memory", gibibytes * 2 ** 30], ["nvidia_com_gpu", cards.length]]) {
      put("kube_node_status_allocatable", { node: name, resource }, () => is);
    }
    put("node_uname_info", { instance, nodename: name }, () => 1);
    put("node_memory_MemTotal_bytes", { instance }, () => gibibytes * 2 ** 30);
    put("node_memory_MemAvailable_bytes", { instance }, () => gibibytes * 2 ** 30 * (1 - busy));
    for (let cpu = 0; cpu < cores; cpu++) {
      for (const [mode, share] of [["user", busy], ["idle", 1 - busy]]) {
        put("node_cpu_seconds_total", { instance, mode, cpu }, (at) => (at + before) * share);
      }
    }
    cards.forEach((card, index) => {
      const { usage = 0, memory = 0, xid = 0, pod, from = -Infinity, until: end = Infinity } = card;
      const labels = { gpu: index, UUID: `GPU-${name}-${index}`, modelName: "NVIDIA H100 80GB HBM3", Hostname: name, ...(pod ? { pod } : {}) };
      const there = (is) => (at) => (at < from || at > end ? null : is(typeof usage === "function" ? usage(at) : usage));
      put("DCGM_FI_DEV_GPU_UTIL", labels, there((share) => Math.round(share * 100)));
      put("DCGM_FI_DEV_FB_USED", labels, there(() => Math.round(memory * 81920)));
      put("DCGM_FI_DEV_FB_FREE", labels, there(() => Math.round((1 - memory) * 81920)));
      put("DCGM_FI_DEV_GPU_TEMP", labels, there((share) => Math.round(32 + 45 * share)));
      put("DCGM_FI_DEV_POWER_USAGE", labels, there((share) => 70 + 600 * share));
      put("DCGM_FI_DEV_XID_ERRORS", labels, there(() => xid));
    });
  }
  return `${[...metrics.values()].flat().join("\n")}\n# EOF\n`;
}

/** Metrics of kube-state-metrics and cAdvisor for a pod on a node. */
function recordPod(put, node, { name, cores, gibibytes, gpus, busy }, before) {
  const pod = { namespace: "cubeloom-jobs", pod: name };
  const [container, network] = [{ ...pod, container: "main" }, { ...pod, interface: "eth0" }];
  for (const [resource, is] of [["cpu", cores], ["memory", gibibytes * 2 ** 30], ["nvidia_com_gpu", gpus]]) {
    put("kube_pod_container_resource_requests", { ...pod, node, resource }, () => is);
  }
  put("kube_pod_status_phase", { ...pod, phase: "Running" }, () => 1);
  // A counter with this rate per second, which alternates between a fifth more and a fifth less.
  const counter = (rate) => (at) => rate * (at + before + 60 * (1 - Math.cos(at / 300)));
  put("container_cpu_usage_seconds_total", container, counter(cores * busy));
  put("container_memory_working_set_bytes", container, (at) => Math.round(gibibytes * 2 ** 30 * (0.6 + 0.1 * Math.sin(at / 900))));
  put("container_fs_reads_bytes_total", container, counter(busy * 2 ** 28));
  put("container_network_receive_bytes_total", network, counter(busy * 2 ** 30));
  put("container_network_transmit_bytes_total", network, counter(busy * 2 ** 30));
}

/** Starts one with a recording, in a folder below `folder`. */
export async function prometheus(folder, text) {
  const home = mkdtempSync(join(folder, "prometheus-"));
  const [recorded, data, config] = ["recorded", "data", "prometheus.yml"].map((name) => join(home, name));
  writeFileSync(recorded, text);
  writeFileSync(config, "scrape_configs: []\n");
  const taken = spawnSync("promtool", ["tsdb", "create-blocks-from", "openmetrics", recorded, data], { encoding: "utf8" });
  if (taken.status !== 0) throw new Error(`promtool: ${taken.error ?? taken.stderr}`);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const words = [`--config.file=${config}`, `--storage.tsdb.path=${data}`, "--storage.tsdb.retention.time=10y", `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn("prometheus", words, { stdio: "ignore" });
  const ready = async () => fetch(`${url}/-/ready`).then((answer) => answer.ok, () => false);
  await until("prometheus to be ready", ready);
  const stop = async () => {
    const gone = new Promise((done) => { child.once("exit", done); });
    child.kill("SIGKILL");
    await gone;
    rmSync(home, { recursive: true, force: true });
  };
  return { url, stop };
}
