// Clusters with metrics: a busy one with all kinds of problems, an idle one, one with unreachable Prometheus
// and API.

import { prometheus, recording } from "./prometheus.mjs";

/** For an unreachable cluster. */
export const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: a
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: tops3cret}}]
contexts: [{name: a, context: {cluster: c, user: u}}]
`;

const training = (at) => 0.85 + 0.1 * Math.sin(at / 200);
const held = (share) => ({ usage: share, memory: 0.9, pod: "notebook-0" });
const cards = (count, card) => Array.from({ length: count }, () => card);

const BUSY = [
  { name: "node-01", busy: 0.9, cards: cards(8, held(training)) },
  { name: "node-02", busy: 0.2, cards: [...cards(3, held(0)), ...cards(5, {})] },
  { name: "node-03", busy: 0.4, cards: [held(0.4), { ...held(0), xid: 79 }, { ...held(0.5), until: -900 }, ...cards(5, {})] },
  { name: "node-04", busy: 0.1, cards: cards(8, {}) },
  { name: "node-cpu-05", busy: 0.7, cards: [] },
];
const IDLE = [{ name: "node-01", busy: 0.02, cards: cards(8, {}) }, { name: "node-02", busy: 0.03, cards: cards(8, {}) }];

/** The lag of a pod's GPUs behind the previous pod, in seconds: workers of a gang behave nearly the same. */
const BEHIND = 90;

/**
 * A node whose first GPUs are allocated to pods, one pod after the other, instead of to an owner unknown to
 * the server.
 */
function withPods(node, pods) {
  const holders = pods.flatMap((pod, at) => Array.from({ length: pod.gpus }, () => ({ pod: pod.name, behind: at * BEHIND })));
  const taken = (card, { pod, behind }) => {
    const { usage } = card;
    return { ...card, pod, usage: typeof usage === "function" ? (at) => usage(at - behind) : usage };
  };
  return { ...node, pods, cards: node.cards.map((card, at) => (at < holders.length ? taken(card, holders[at]) : card)) };
}

/**
 * Adds them as an administrator, with a Prometheus each. Returns what to stop in the end. `pods` are those of
 * the busy cluster's nodes, by node; `size` is each node's capacity, and `span` the recorded range, as for
 * `recording`.
 */
export async function observed(folder, api, { pods = {}, size = {}, span } = {}) {
  const sources = [];
  const busy = BUSY.map((node) => withPods(node, pods[node.name] ?? []));
  for (const [name, nodes] of [["busy", busy], ["idle", IDLE]]) {
    const source = await prometheus(folder, recording(nodes.map((node) => ({ ...node, ...size })), span));
    sources.push(source);
    await api("POST", "/clusters", { name, access: "kubeconfig", kubeconfig: KUBECONFIG, prometheus: source.url, grafana: "https://grafana.example.org/d/1" });
  }
  await api("POST", "/clusters", { name: "broken", access: "kubeconfig", kubeconfig: KUBECONFIG, prometheus: "http://127.0.0.1:1" });
  return sources;
}
