//! The state of the editor, outside of React: one document with its history, what is selected, what is known of it. The
//! canvas, the form, the text and the bars read it by `useEditor` and change it by `apply` and `set`.

import { useSyncExternalStore } from "react";
import type { Problem } from "../api/problem";
import type { TaskOutlook } from "./outlook";
import { itemOf, taskOf, type ItemId, type PipelineDocument } from "../graph/document";
import { History } from "../graph/history";

/** What a task of the run that is shown on the canvas does. Times are milliseconds since the epoch. */
export interface LiveTask {
  state: string;
  /** Done and all, of instances or of what the program reports. */
  progress?: { done: number; total: number };
  startedAt?: number;
  endedAt?: number;
  attempts?: number;
  /** Why it waits, or the first cause of its failure. */
  reason?: string;
}

/** Everything that is shown. Replaced, never changed. */
export interface EditorState {
  readonly document: PipelineDocument;
  readonly selection: ReadonlySet<ItemId>;
  /** The server's and the browser's own, each at most once. */
  readonly problems: readonly Problem[];
  readonly readOnly: boolean;
  /** Of the run that is shown, by task; `null` when none is shown. */
  readonly live: ReadonlyMap<string, LiveTask> | null;
  /** What would become of each task if it were run now; `null` while that is not known. */
  readonly outlook: ReadonlyMap<string, TaskOutlook> | null;
  /** A version that the canvas shows the document's difference to; `null` when none. */
  readonly against: PipelineDocument | null;
  /** The task of that version, gone since, that somebody looks at; instead of a selection. */
  readonly ghost: string | null;
  /** A field that somebody asked for, by its JSON pointer: the form shows and focuses it. A new object asks again. */
  readonly wanted: { readonly pointer: string } | null;
}

/** How a change becomes a step. */
export interface StepOptions {
  /** Steps in a row with the same key are one. */
  merge?: string;
  /** What is selected afterwards; else what of the selection is still there. */
  select?: Iterable<ItemId>;
}

/** The store. One editor page has one. */
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

  /** Changes the document as one step of the history. `label` is what undo says it takes back. */
  apply(label: string, change: (document: PipelineDocument) => PipelineDocument, { merge, select }: StepOptions = {}): void {
    if (this.#state.readOnly) return;
    const document = change(this.#state.document);
    this.#history = this.#history.push(document, label, merge);
    this.#show(select ? new Set(select) : undefined);
  }

  /** Ends a step that `merge` kept open. */
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

  /** Shows a task that a version has and the document does not; null shows none. Nothing of the document is selected. */
  lookBack(ghost: string | null): void {
    this.set({ ghost, selection: new Set() });
  }

  /** Replaces what is no part of the document. */
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

/** A part of the state, in a component; it is drawn again when the part is another one (`Object.is`). */
export function useEditor<T>(store: EditorStore, part: (state: EditorState) => T): T {
  return useSyncExternalStore(store.subscribe, () => part(store.state));
}
