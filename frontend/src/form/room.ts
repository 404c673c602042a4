//! The capacity of nodes for a task. Pure.

import type { Place } from "../editor/load";
import type { Json, PipelineDocument, Task } from "../graph/document";
import { valueAt } from "../graph/edit";

/** The most that one worker can get. CPUs, bytes, GPUs; the names of the GPUs. */
export interface Room {
  readonly cpu: number;
  readonly memory: number;
  readonly gpus: number;
  readonly types: readonly string[];
  /** The node group of these nodes; absent for all nodes of the cluster. */
  readonly group?: string;
}

/**
 * The capacity of a cluster, or of one of its node groups: of the named cluster, else the only one. Null if
 * unknown: an existing node group without nodes may scale up on request.
 */
export function roomOf(places: readonly Place[], cluster: unknown, group?: unknown): Room | null {
  const place = places.find((one) => one.name === cluster) ?? (places.length === 1 ? places[0] : undefined);
  if (!place) return null;
  const named = place.node_groups.find((one) => one === group);
  const nodes = named === undefined ? place.nodes : place.nodes.filter((node) => node.groups.includes(named));
  if (nodes.length === 0) return null;
  const most = (amount: "cpu" | "memory" | "gpus") => Math.max(...nodes.map((node) => node.amount[amount]));
  const room = { cpu: most("cpu"), memory: most("memory"), gpus: most("gpus"), types: [...new Set(nodes.flatMap((node) => node.gpus.map((gpu) => gpu.name)))] };
  return named === undefined ? room : { ...room, group: named };
}

/** The node group of these tasks, by default the pipeline's; undefined if they differ. */
export function groupOf(document: PipelineDocument, tasks: readonly Task[]): Json | undefined {
  const path = ["placement", "node_group"];
  const usual = valueAt(document, path);
  const found = new Set(tasks.map((task) => valueAt(task, path) ?? usual));
  return tasks.length === 0 ? usual : found.size === 1 ? [...found][0] : undefined;
}
