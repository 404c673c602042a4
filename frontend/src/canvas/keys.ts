//! Keyboard input: command shortcuts; arrows navigate along edges, and move the selection with Ctrl.

import { isTyping } from "../core/keys";
import { t } from "../core/texts";
import { itemOf, type ItemId } from "../graph/document";
import { move } from "../graph/edit";
import { watchClipboard } from "./clipboard";
import { COMMANDS } from "./commands/all";
import type { Command } from "./commands/command";
import { finishConnecting, whyNot } from "./connect";
import type { Pointer } from "./gestures/pointer";
import { outlookMark } from "./outlook";
import { matches } from "./shortcut";
import { GRID } from "./size";
import type { Stage } from "./stage";
import { spoken } from "./summary";
import { templateOfTask } from "../editor/templates";
import { next, nextTask, stepOf, walk, type Arrow } from "./walk";
import { source, target } from "./curve";

/**
 * Handles the keyboard events of the canvas, and its shortcuts of one character also while nothing else needs
 * them. Returns the unsubscribe function.
 */
export function watchKeys(stage: Stage, root: HTMLElement, pointer: Pointer): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.target !== root || event.isComposing) return;
    if (handle(stage, event, pointer)) event.preventDefault();
  };
  const listenAround = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || !isFree(event.target, root)) return;
    if (handleAround(stage, event, pointer)) event.preventDefault();
  };
  root.addEventListener("keydown", listen);
  document.addEventListener("keydown", listenAround);
  const clipboard = watchClipboard(stage, root);
  return () => {
    root.removeEventListener("keydown", listen);
    document.removeEventListener("keydown", listenAround);
    clipboard();
  };
}

/** Whether the focus is nowhere, as on a new page, or on a button of the canvas or of a toolbar. */
function isFree(target: EventTarget | null, root: HTMLElement): boolean {
  if (!(target instanceof HTMLElement) || isTyping(target) || root.contains(target) || !root.checkVisibility()) return false;
  if (document.querySelector("dialog[open]")) return false;
  if (target.matches("body, main")) return true;
  return target.closest(".cv, [role=toolbar]") !== null && target.closest("details[open], [role=menu], [role=listbox]") === null;
}

// All other keys belong to what has the focus, or to the browser.
function handleAround(stage: Stage, event: KeyboardEvent, pointer: Pointer): boolean {
  if (pointer.busy || stage.ui.state.connecting) return false;
  if (stage.ui.state.open) return hold(stage, event);
  if (event.ctrlKey || event.metaKey || event.key.length !== 1 || event.key === " ") return false;
  const command = commandFor(event);
  if (!command) return false;
  // From now on all its keys work, and what the command opens returns the focus to it.
  stage.root?.focus({ preventScroll: true });
  perform(stage, command);
  return true;
}

function handle(stage: Stage, event: KeyboardEvent, pointer: Pointer): boolean {
  if (pointer.busy) {
    if (event.key === "Escape") pointer.cancel();
    return event.key === "Escape";
  }
  if (stage.ui.state.open) return hold(stage, event);
  if (event.key === "Escape" && stage.layouts.cancel()) return true;
  const arrow = event.key.startsWith("Arrow") ? (event.key as Arrow) : null;
  if (stage.ui.state.connecting) return connecting(stage, event, arrow);
  if (arrow && (event.ctrlKey || event.metaKey)) return shift(stage, arrow, event.shiftKey);
  if (arrow) return go(stage, arrow, event.shiftKey);
  if (event.key === "Home" || event.key === "End") {
    const end = next(stage.scene, null, event.key === "Home" ? 1 : -1);
    if (end !== null) goTo(stage, end, event.shiftKey);
    return true;
  }
  if (event.key === "Tab") return tab(stage, event.shiftKey);
  if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) return menu(stage);
  const command = commandFor(event);
  if (command) perform(stage, command);
  return command !== undefined;
}

function commandFor(event: KeyboardEvent): Command | undefined {
  return COMMANDS.find(({ keys = [] }) => keys.some((key) => matches(key, event)));
}

function perform(stage: Stage, command: Command): void {
  const refusal = command.refusal?.(stage) ?? null;
  if (refusal === null) command.perform(stage);
  else stage.ui.refuse(refusal);
}

// The opened part is still loading: typed keys are meant for it, and not for the canvas's commands.
function hold({ ui }: Stage, event: KeyboardEvent): boolean {
  if (event.key === "Escape") {
    ui.held = [];
    ui.set({ open: null });
  } else if (!event.ctrlKey && !event.metaKey && !event.altKey) ui.held.push(event.key);
  return true;
}

/** Navigates to a task, frame or note: selects, reveals and announces it. */
export function goTo(stage: Stage, id: ItemId, more = false): void {
  const place = stage.scene.placeOf(id);
  if (!place) return;
  stage.store.select(more ? [...stage.store.state.selection, id] : [id]);
  stage.ui.set({ cursor: id });
  stage.camera.reveal(place);
  stage.ui.announce(wordsOf(stage, id));
}

function wordsOf(stage: Stage, id: ItemId): string {
  const { document, marks, templates } = stage;
  const { kind, name } = itemOf(id);
  if (kind === "note") return t("canvas.note-of", { text: document.canvas?.notes?.[name]?.text ?? "" });
  const frame = kind === "frame" ? document.canvas?.frames?.[name] : undefined;
  if (frame) return t("canvas.frame-of", { title: frame.title, tasks: frame.tasks.join(", ") });
  const own = stage.task(name);
  return own ? spoken(own, templateOfTask(templates, own), marks.live?.get(name), marks.problems.get(name), outlookMark(stage.store.state.outlook?.get(name))) : "";
}

// The keyboard cursor, as long as its item is still drawn.
function cursorOf(stage: Stage): ItemId | null {
  const { cursor } = stage.ui.state;
  return cursor !== null && stage.scene.placeOf(cursor) ? cursor : null;
}

function go(stage: Stage, arrow: Arrow, more: boolean): boolean {
  const from = cursorOf(stage);
  const to = from === null ? nextTask(stage.scene, null, 1) : walk(stage.scene, from, stepOf(arrow, stage.scene.direction));
  if (to !== null) goTo(stage, `task:${to}`, more);
  return true;
}

// On an empty canvas, Tab leaves the canvas; so it does after the last item.
function tab(stage: Stage, back: boolean): boolean {
  const from = cursorOf(stage);
  const to = from === null ? null : next(stage.scene, from, back ? -1 : 1);
  if (to === null) return false;
  goTo(stage, to);
  return true;
}

function shift(stage: Stage, arrow: Arrow, far: boolean): boolean {
  if (stage.readOnly || stage.store.state.selection.size === 0) return true;
  const by = far ? 8 * GRID : GRID;
  const [x, y] = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }[arrow] as [number, number];
  const { selection } = stage.store.state;
  stage.apply(t("canvas.step-move"), (document) => move(document, selection, [x, y]), { merge: "keys:move" });
  const cursor = cursorOf(stage);
  const place = cursor && stage.scene.placeOf(cursor);
  if (place) {
    stage.camera.reveal(place);
    stage.ui.announce(t("canvas.said-moved", { x: place.x, y: place.y }));
  }
  return true;
}

function connecting(stage: Stage, event: KeyboardEvent, arrow: Arrow | null): boolean {
  const state = stage.ui.state.connecting;
  if (!state) return false;
  if (event.key === "Escape") {
    stage.ui.set({ connecting: null });
    stage.show({});
    stage.paint();
    stage.ui.announce(t("canvas.said-connecting-ended"));
    return true;
  }
  if (event.key === "Enter" || event.key === " ") {
    if (state.to !== null) finishConnecting(stage, state.to);
    return true;
  }
  if (!arrow && event.key !== "Tab") return false;
  aim(stage, state.to ?? state.from, arrow, event.shiftKey);
  return true;
}

// Arrows go to the nearest task in that direction, Tab to the next of all, including forbidden ones with
// their reason.
function aim(stage: Stage, from: string, arrow: Arrow | null, back: boolean): void {
  const state = stage.ui.state.connecting;
  const own = stage.scene.nodes.get(state?.from ?? "");
  const to = arrow ? walk(stage.scene, `task:${from}`, arrow) : (nextTask(stage.scene, from, back ? -1 : 1) ?? nextTask(stage.scene, null, back ? -1 : 1));
  const node = stage.scene.nodes.get(to ?? "");
  if (!state || !own || !node) return;
  const refusal = whyNot(stage, node.name);
  stage.ui.set({ connecting: { ...state, to: node.name } });
  stage.camera.reveal(node);
  stage.show({ wire: { from: source(own, stage.scene.direction), to: target(node, stage.scene.direction), allowed: refusal === null } });
  stage.ui.set({ hint: refusal });
  stage.ui.announce(refusal ?? t("canvas.said-aimed", { to: node.name }));
}

function menu(stage: Stage): boolean {
  const cursor = cursorOf(stage);
  const place = cursor && stage.scene.placeOf(cursor);
  const { x, y, zoom } = stage.view;
  const at = place ? { x: (place.x + 40) * zoom + x, y: (place.y + place.height) * zoom + y } : { x: stage.size.width / 2, y: stage.size.height / 2 };
  stage.ui.set({ open: { kind: "menu", at } });
  return true;
}
