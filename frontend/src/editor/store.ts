//! The editor's state, outside of React: one document with its history, the selection, and derived
//! information. The canvas, form, text and toolbars read it by `useEditor` and change it by `apply` and
//! `set`.

import { useSyncExternalStore } from "react";
import type { Problem } from "../api/problem";
import type { TaskOutlook } from "./outlook";
import { itemOf, taskOf, type ItemId, type PipelineDocument } from "../graph/document";
import { History } from "../graph/history";

/** The state of a task of the run on the canvas. Times are milliseconds since the epoch. */
export interface LiveTask {
  state: string;
  /** Progress as reported by the program. */
  progress?: { done: number; total: number };
  /** Instances that have ended, of several. */
  instances?: { done: number; total: number };
  startedAt?: number;
  endedAt?: number;
  attempts?: number;
  /** Why it is pending, or the first cause of its failure. */
  reason?: string;
}

/** The whole state. Immutable; changes replace it. */
export interface EditorState {
  readonly document: PipelineDocument;
  readonly selection: ReadonlySet<ItemId>;
  /** The problems found by the server and the browser, without duplicates. */
  readonly problems: readonly Problem[];
  readonly readOnly: boolean;
  /** Of the shown run, by task; `null` if none is shown. */
  readonly live: ReadonlyMap<string, LiveTask> | null;
  /** The forecast of each task if it ran now; `null` while unknown. */
  readonly outlook: ReadonlyMap<string, TaskOutlook> | null;
  /** The version whose differences the canvas shows; `null` if none. */
  readonly against: PipelineDocument | null;
  /** A removed task of that version that is being viewed, instead of a selection. */
  readonly ghost: string | null;
  /** A field to show and focus in the form, by its JSON pointer. A new object requests it again. */
  readonly wanted: { readonly pointer: string } | null;
}

/** How a change becomes an undo step. */
export interface StepOptions {
  /** Consecutive steps with the same key are merged. */
  merge?: string;
  /** The new selection; by default, what is left of the current one. */
  select?: Iterable<ItemId>;
}

/** The store of one editor page. */
export class EditorStore {
  #history: History<PipelineDocument>;
  #state: EditorState;
  readonly #listeners = new Set<() => void>();

  constructor(document: PipelineDocument, readOnly: boolean) {
    this.#history = History.of(document);
    this.#state = { document, selection: new Set(), problems: [], readOnly, live: null, outlook: null, against: null, ghost: null, wanted: null };
  }

  get state(): EditorState {
    return this.#state;
  }

  get undoLabel(): string | null {
    return this.#history.undoLabel;
  }

  get redoLabel(): string | null {
    return this.#history.redoLabel;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes the document as one undo step. `label` names the step in the undo button. */
  apply(label: string, change: (document: PipelineDocument) => PipelineDocument, { merge, select }: StepOptions = {}): void {
    if (this.#state.readOnly) return;
    const document = change(this.#state.document);
    this.#history = this.#history.push(document, label, merge);
    this.#show(select ? new Set(select) : undefined);
  }

  /** Closes a step that `merge` kept open. */
  seal(): void {
    this.#history = this.#history.seal();
  }

  undo(): void {
    this.#history = this.#history.undo();
    this.#show();
  }

  redo(): void {
    this.#history = this.#history.redo();
    this.#show();
  }

  select(ids: Iterable<ItemId>): void {
    const selection = new Set(ids);
    const { selection: before, ghost } = this.#state;
    if (ghost !== null || selection.size !== before.size || [...selection].some((id) => !before.has(id))) this.set({ selection, ghost: null });
  }

  /** Views a task that only the compared version has; null views none. Clears the selection. */
  lookBack(ghost: string | null): void {
    this.set({ ghost, selection: new Set() });
  }

  /** Replaces state outside of the document. */
  set(parts: Partial<Omit<EditorState, "document">>): void {
    this.#state = { ...this.#state, ...parts };
    for (const listener of this.#listeners) listener();
  }

  #show(selection: ReadonlySet<ItemId> = this.#state.selection): void {
    const document = this.#history.present;
    const kept = [...selection].filter((id) => isThere(document, id));
    this.#state = { ...this.#state, document, selection: kept.length === selection.size ? selection : new Set(kept) };
    for (const listener of this.#listeners) listener();
  }
}

function isThere(document: PipelineDocument, id: ItemId): boolean {
  const { kind, name } = itemOf(id);
  if (kind === "frame") return document.canvas?.frames?.[name] !== undefined;
  if (kind === "note") return document.canvas?.notes?.[name] !== undefined;
  if (kind === "task") return taskOf(document, name) !== undefined;
  const [from = "", to = ""] = name.split(">");
  return taskOf(document, to)?.needs?.includes(from) ?? false;
}

/** Selects a part of the state in a component, which re-renders when it changes (`Object.is`). */
export function useEditor<T>(store: EditorStore, part: (state: EditorState) => T): T {
  return useSyncExternalStore(store.subscribe, () => part(store.state));
}
