//! Creating an edge, by mouse or keyboard: allowed targets, and the reasons for refusals.

import { t } from "../core/texts";
import { forbiddenSources, forbiddenTargets } from "../graph/cycle";
import { connect } from "../graph/edit";
import type { SceneNode } from "./scene";
import type { Stage } from "./stage";

/** Starts an edge at a port. The forbidden targets are computed once. */
export function beginConnecting(stage: Stage, from: string, side: "in" | "out"): void {
  const node = stage.scene.nodes.get(from);
  if (!node || stage.readOnly) return;
  const closing = (side === "out" ? forbiddenTargets : forbiddenSources)(stage.document, from);
  const there = side === "out" ? node.after.map((edge) => edge.to.name) : node.before.map((edge) => edge.from.name);
  stage.ui.set({ connecting: { from, side, forbidden: new Set([...closing, ...there]), to: null } });
  stage.paint();
}

/** Connects to a task, or announces why not. */
export function finishConnecting(stage: Stage, other: string): boolean {
  const connecting = stage.ui.state.connecting;
  if (!connecting) return false;
  const refusal = whyNot(stage, other);
  stage.ui.set({ connecting: null });
  stage.show({});
  stage.paint();
  if (refusal !== null) {
    stage.ui.refuse(refusal);
    return false;
  }
  const [from, to] = connecting.side === "out" ? [connecting.from, other] : [other, connecting.from];
  stage.apply(t("canvas.step-connect"), (document) => connect(document, from, to));
  stage.ui.announce(t("canvas.said-connected", { from, to }));
  return true;
}

/** Why the current edge cannot go to a task; `null` if it can. */
export function whyNot(stage: Stage, other: string): string | null {
  const connecting = stage.ui.state.connecting;
  if (!connecting?.forbidden.has(other)) return null;
  if (other === connecting.from) return t("canvas.refused-itself");
  const node = stage.scene.nodes.get(connecting.from);
  const there = connecting.side === "out" ? node?.after.some((edge) => edge.to.name === other) : node?.before.some((edge) => edge.from.name === other);
  return there ? t("canvas.refused-there", { from: connecting.from, to: other }) : t("canvas.refused-cycle", { from: connecting.from, to: other });
}

/** The node at a point, or the nearest within reach. */
export function closest(stage: Stage, x: number, y: number, reach: number): SceneNode | null {
  const inside = stage.scene.grid.at(x, y);
  if (inside) return inside;
  let [best, found]: [number, SceneNode | null] = [reach, null];
  for (const node of stage.scene.grid.within({ x: x - reach, y: y - reach, width: 2 * reach, height: 2 * reach })) {
    const dx = Math.max(node.x - x, 0, x - node.x - node.width);
    const dy = Math.max(node.y - y, 0, y - node.y - node.height);
    const distance = Math.hypot(dx, dy);
    if (distance < best) [best, found] = [distance, node];
  }
  return found;
}
