//! Highlighted edges: those of the selection.

import { itemOf, type ItemId } from "../graph/document";
import type { Scene, SceneEdge } from "./scene";

/** With more selected tasks than this no edges are highlighted: all would be. */
const MOST = 200;

/** The edges of the selected tasks, and the selected edges. */
export function* brightEdges(scene: Scene, selection: ReadonlySet<ItemId>): Iterable<SceneEdge> {
  if (selection.size > MOST) return;
  for (const id of selection) {
    const { kind, name } = itemOf(id);
    const node = kind === "task" ? scene.nodes.get(name) : undefined;
    if (node) yield* [...node.before, ...node.after];
    const to = kind === "edge" ? scene.nodes.get(name.split(">")[1] ?? "") : undefined;
    const edge = to?.before.find((one) => one.id === id);
    if (edge) yield edge;
  }
}
