//! Double clicks and the context menu.

import { itemOf } from "../../graph/document";
import type { Stage } from "../stage";
import { taskAt, type Pointer } from "./pointer";

/** Handles the mouse events of an element. Returns the unsubscribe function. */
export function watchMouse(stage: Stage, root: HTMLElement, pointer: Pointer): () => void {
  const twice = (event: MouseEvent) => {
    if (isControl(event.target)) return;
    const found = pointer.at(event);
    const task = taskAt(found);
    if (task !== null) stage.doors.onOpen(task);
    else if (stage.readOnly) return;
    else if (found?.kind === "frame" || found?.kind === "note") stage.ui.set({ editing: found.id });
    else if (!found) stage.ui.set({ open: { kind: "add", at: inside(event), after: null } });
  };
  const menu = (event: MouseEvent) => {
    if (isControl(event.target)) return;
    event.preventDefault();
    const found = pointer.at(event);
    const task = taskAt(found);
    const id = task !== null ? (`task:${task}` as const) : found && found.kind !== "port" ? found.id : null;
    if (id === null) stage.store.select([]);
    else if (!stage.store.state.selection.has(id)) stage.store.select([id]);
    if (id !== null && itemOf(id).kind === "task") stage.ui.set({ cursor: id });
    stage.ui.set({ open: { kind: "menu", at: inside(event) } });
  };
  const inside = (event: MouseEvent) => {
    const box = root.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  root.addEventListener("dblclick", twice);
  root.addEventListener("contextmenu", menu);
  return () => {
    root.removeEventListener("dblclick", twice);
    root.removeEventListener("contextmenu", menu);
  };
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea") !== null;
}
