//! Drags an edge from a port. Forbidden targets are dimmed; a drop on empty canvas offers templates to add
//! there.

import { source, target } from "../curve";
import { REACH } from "../hit";
import type { SceneNode } from "../scene";
import type { Stage } from "../stage";
import { beginConnecting, closest, finishConnecting, whyNot } from "../connect";
import type { Gesture } from "./gesture";

export class Connect implements Gesture {
  readonly #stage: Stage;
  readonly #node: SceneNode;
  readonly #side: "in" | "out";

  constructor(stage: Stage, node: SceneNode, side: "in" | "out") {
    this.#stage = stage;
    this.#node = node;
    this.#side = side;
    beginConnecting(stage, node.name, side);
  }

  move(x: number, y: number): void {
    const { ui, scene, view } = this.#stage;
    const connecting = ui.state.connecting;
    if (!connecting) return;
    const over = closest(this.#stage, x, y, REACH.touch.port / view.zoom);
    const allowed = over !== null && !connecting.forbidden.has(over.name);
    ui.set({ connecting: { ...connecting, to: allowed ? over.name : null }, hint: over && !allowed ? whyNot(this.#stage, over.name) : null });
    const own = (this.#side === "out" ? source : target)(this.#node, scene.direction);
    const other: [number, number] = over && allowed ? (this.#side === "out" ? target : source)(over, scene.direction) : [x, y];
    const [from, to] = this.#side === "out" ? [own, other] : [other, own];
    this.#stage.show({ wire: { from, to, allowed: over === null || allowed } });
  }

  end(x: number, y: number, event: PointerEvent): void {
    const { ui, readOnly } = this.#stage;
    const connecting = ui.state.connecting;
    const over = closest(this.#stage, x, y, REACH.touch.port / this.#stage.view.zoom);
    this.#stage.show({});
    if (connecting && over) finishConnecting(this.#stage, over.name);
    ui.set({ connecting: null });
    if (over || readOnly || this.#side === "in") return;
    const box = this.#stage.root?.getBoundingClientRect();
    const at = { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
    ui.set({ open: { kind: "add", at, after: this.#node.name } });
  }

  cancel(): void {
    this.#stage.ui.set({ connecting: null, hint: null });
    this.#stage.show({});
    this.#stage.paint();
  }
}
