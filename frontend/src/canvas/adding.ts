//! Adds a task from a template: with a free name, at a free position, connected to its predecessor.

import { t } from "../core/texts";
import type { TemplateInfo } from "../editor/templates";
import { NODE, type Task } from "../graph/document";
import { addTask, connect, freeName, insertOnEdge } from "../graph/edit";
import { free, placeBeside } from "./beside";
import { edgeAt } from "./hit";
import type { SceneEdge } from "./scene";
import { onGrid } from "./snap";
import type { Stage } from "./stage";

/** The position of a new task. */
export interface Spot {
  /** The centre of its node in the drawing; if absent, it goes beside its predecessor. */
  readonly at?: { x: number; y: number } | null;
  /** The task that it depends on. */
  readonly after?: string | null;
  /** The edge that it splits. */
  readonly edge?: SceneEdge | null;
}

/** Adds it as one undo step, selects it and announces it. */
export function addTemplate(stage: Stage, template: TemplateInfo, { at, after, edge }: Spot): void {
  if (stage.readOnly) return;
  const name = freeName(new Set(stage.document.tasks.map((task) => task.name)), template.name);
  const task: Task = { name, template: template.name };
  const corner = at ? { x: onGrid(at.x - NODE.width / 2), y: onGrid(at.y - NODE.height / 2) } : besideSelection(stage, after);
  const place: [number, number] = [corner.x, corner.y];
  stage.apply(t("canvas.step-add", { task: name }), (document) => {
    if (edge) return insertOnEdge(document, task, edge.from.name, edge.to.name, place);
    const added = addTask(document, task, place);
    return after ? connect(added, after, name) : added;
  }, { select: [`task:${name}`] });
  const node = stage.scene.nodes.get(name);
  if (node) stage.camera.reveal(node);
  stage.ui.announce(after ? `${t("canvas.said-added", { task: name })}, ${t("canvas.said-needs", { tasks: after })}` : t("canvas.said-added", { task: name }));
}

/** The corner of a node with this centre, on the grid. */
export function ghostAt({ x, y }: { x: number; y: number }): { x: number; y: number } {
  return { x: onGrid(x - NODE.width / 2), y: onGrid(y - NODE.height / 2) };
}

/** The edge that a task dropped at a point splits. */
export function edgeFor(stage: Stage, { x, y }: { x: number; y: number }): SceneEdge | null {
  return stage.scene.grid.at(x, y) ? null : edgeAt(stage.scene, x, y, NODE.height / 2);
}

function besideSelection(stage: Stage, after: string | null | undefined): { x: number; y: number } {
  if (after) return placeBeside(stage.scene, [after], stage.scene.direction);
  const middle = stage.camera.middle();
  return free(stage.scene, middle.x - NODE.width / 2, middle.y - NODE.height / 2, stage.scene.direction);
}
