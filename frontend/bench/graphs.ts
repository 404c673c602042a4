//! Pipelines of a given size, the same on every call: layers of tasks that need one to three of the layers before.

import { edgesOf, NODE, type PipelineDocument, type Task } from "../src/graph/document";
import { layOut } from "../src/graph/layout";

/** A pipeline with `count` tasks that all have a place. */
export function pipeline(count: number): PipelineDocument {
  const random = generator(7);
  const across = Math.ceil(Math.sqrt(count) * 1.2);
  const tasks = Array.from({ length: count }, (_, index): Task => {
    const layer = Math.floor(index / across);
    const before = layer === 0 ? [] : Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const near = (index % across) + Math.round((random() - 0.5) * 6);
      return `task-${(layer - 1) * across + Math.min(across - 1, Math.max(0, near))}`;
    });
    const needs = [...new Set(before)];
    return { name: `task-${index}`, template: "command", arguments: { command: ["true"] }, ...(needs.length > 0 ? { needs } : {}) };
  });
  const document: PipelineDocument = { apiVersion: "cubeloom/v1", kind: "Pipeline", name: "bench", tasks };
  const boxes = tasks.map(({ name }) => ({ id: name, ...NODE }));
  const layout = layOut(boxes, edgesOf(document), "right");
  const positions = Object.fromEntries([...layout.nodes].map(([name, { x, y }]) => [name, [Math.round(x), Math.round(y)] as const]));
  return { ...document, canvas: { positions } };
}

// Park, Miller 1988, "minimal standard".
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
