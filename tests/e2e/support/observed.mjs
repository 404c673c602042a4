// Clusters to look at: a busy one with all that stands out, one that is idle, one whose Prometheus and whose API are away.

import { prometheus, recording } from "./prometheus.mjs";

/** Of a cluster that nobody reaches. */
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

/** Adds them, as an administrator, with a Prometheus each; what to stop in the end. */
export async function observed(folder, api) {
  const sources = [];
  for (const [name, nodes] of [["busy", BUSY], ["idle", IDLE]]) {
    const source = await prometheus(folder, recording(nodes));
    sources.push(source);
    await api("POST", "/clusters", { name, access: "kubeconfig", kubeconfig: KUBECONFIG, prometheus: source.url, grafana: "https://grafana.example.org/d/1" });
  }
  await api("POST", "/clusters", { name: "broken", access: "kubeconfig", kubeconfig: KUBECONFIG, prometheus: "http://127.0.0.1:1" });
  return sources;
}
