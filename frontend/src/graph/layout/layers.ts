//! The layer of each node: one more than its farthest predecessor's, and close to its dependents.

import { listOf, type Net } from "./net";

/** The layer of each node, from 0. */
export function layersOf(net: Net): Int32Array {
  const layer = new Int32Array(net.count);
  const order = topological(net);
  for (const node of order) {
    for (const next of listOf(net.after, node)) layer[next] = Math.max(layer[next] ?? 0, (layer[node] ?? 0) + 1);
  }
  // A node without dependencies is placed just before its first dependent, for short edges.
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const node = order[at] ?? 0;
    const after = listOf(net.after, node);
    if (after.length === 0 || listOf(net.before, node).length > 0) continue;
    layer[node] = after.reduce((least, next) => Math.min(least, layer[next] ?? 0), Infinity) - 1;
  }
  return layer;
}

/** A topological order of the nodes; ties keep the input order. */
export function topological(net: Net): Int32Array {
  const missing = Int32Array.from({ length: net.count }, (_, node) => listOf(net.before, node).length);
  const order = new Int32Array(net.count);
  let end = 0;
  for (let node = 0; node < net.count; node += 1) if (missing[node] === 0) order[end++] = node;
  for (let at = 0; at < end; at += 1) {
    for (const next of listOf(net.after, order[at] ?? 0)) {
      missing[next] = (missing[next] ?? 0) - 1;
      if (missing[next] === 0) order[end++] = next;
    }
  }
  return order;
}
