//! UI state of the canvas outside of the document: the current gesture, the open overlay, the keyboard
//! cursor.

import { useSyncExternalStore } from "react";
import type { ItemId } from "../graph/document";
import type { Templates } from "../editor/templates";
import type { Detail } from "./lod";

/** An edge being created. */
export interface Connecting {
  /** The task and the side of the port where it starts. */
  readonly from: string;
  readonly side: "in" | "out";
  /** Forbidden targets: the edge would close a cycle, or exists already. */
  readonly forbidden: ReadonlySet<string>;
  /** The current target. */
  readonly to: string | null;
}

/** The open overlay. Points are relative to the canvas element. */
export type Open =
  | { kind: "add"; at: { x: number; y: number } | null; after: string | null }
  | { kind: "shortcuts" }
  | { kind: "menu"; at: { x: number; y: number } };

/** The UI state. Immutable; changes replace it. */
export interface UiState {
  readonly detail: Detail;
  readonly connecting: Connecting | null;
  /** The keyboard cursor; it is also the selection, unless something else is selected. */
  readonly cursor: ItemId | null;
  /** The frame or note whose text is being edited. */
  readonly editing: ItemId | null;
  readonly open: Open | null;
  /** The announcement for screen readers. */
  readonly said: string;
  /** The visible reason why an action is impossible. */
  readonly hint: string | null;
  readonly dragging: boolean;
  readonly layingOut: boolean;
  readonly zoom: number;
  readonly templates: Templates;
}

const FIRST: UiState = {
  detail: "near",
  connecting: null,
  cursor: null,
  editing: null,
  open: null,
  said: "",
  hint: null,
  dragging: false,
  layingOut: false,
  zoom: 1,
  templates: new Map(),
};

/** A minimal store. */
export class Ui {
  /** Keys pressed after an overlay was opened and before it was rendered: its field consumes them. */
  held: string[] = [];
  #state = FIRST;
  readonly #listeners = new Set<() => void>();

  get state(): UiState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(parts: Partial<UiState>): void {
    const keys = Object.keys(parts) as (keyof UiState)[];
    if (keys.every((key) => Object.is(parts[key], this.#state[key]))) return;
    this.#state = { ...this.#state, ...parts };
    for (const listener of this.#listeners) listener();
  }

  /** Announces a text to screen readers. */
  announce(text: string): void {
    this.set({ said: text });
  }

  /** Announces and briefly shows why an action is impossible. */
  refuse(text: string): void {
    this.set({ said: text, hint: text });
    setTimeout(() => { if (this.state.hint === text) this.set({ hint: null }); }, 4000);
  }
}

/** Selects a part of the state in a component. */
export function useUi<T>(ui: Ui, part: (state: UiState) => T): T {
  return useSyncExternalStore(ui.subscribe, () => part(ui.state));
}
