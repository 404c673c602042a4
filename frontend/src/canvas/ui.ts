//! What the canvas shows and the document does not know: the gesture that goes on, what is open, where the keyboard is.

import { useSyncExternalStore } from "react";
import type { ItemId } from "../graph/document";
import type { Templates } from "../editor/templates";
import type { Detail } from "./lod";

/** An edge that is being made. */
export interface Connecting {
  /** The task at whose port it began, and the side. */
  readonly from: string;
  readonly side: "in" | "out";
  /** Tasks that it cannot go to: it would close a cycle, or is there already. */
  readonly forbidden: ReadonlySet<string>;
  /** The task that it would go to now. */
  readonly to: string | null;
}

/** What is open over the canvas. Points are of the canvas' element. */
export type Open =
  | { kind: "add"; at: { x: number; y: number } | null; after: string | null }
  | { kind: "commands" }
  | { kind: "shortcuts" }
  | { kind: "menu"; at: { x: number; y: number } };

/** The state of the canvas. Replaced, never changed. */
export interface UiState {
  readonly detail: Detail;
  readonly connecting: Connecting | null;
  /** Where the keyboard is; it is in the selection too, as long as nothing else is selected. */
  readonly cursor: ItemId | null;
  /** The frame or note whose text is being written. */
  readonly editing: ItemId | null;
  readonly open: Open | null;
  /** What is said to those who do not see the canvas. */
  readonly said: string;
  /** Why something cannot be done, for those who see. */
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

/** A small store. */
export class Ui {
  /** Keys that were pressed after something was opened and before it was there: its field takes them over. */
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
}

/** A part of the state, in a component. */
export function useUi<T>(ui: Ui, part: (state: UiState) => T): T {
  return useSyncExternalStore(ui.subscribe, () => part(ui.state));
}
