//! The editing session of one pipeline: its document, the stored version, and saving.

import type { Problem } from "../api/problem";
import type { PipelineDocument } from "../graph/document";
import { emptyDocument } from "../graph/document";
import { t } from "../core/texts";
import { Cell } from "./cell";
import type { Draft } from "./drafts";
import { NOTHING_YET, type Surroundings } from "./load";
import type { Run } from "./live";
import type { Newer } from "./peers";
import type { Merged } from "./reconcile";
import { Source } from "./source";
import { EditorStore } from "./store";
import type { ReadVersion } from "./versions";

/** The data in the page. */
export interface Start {
  project: string;
  /** Absent while nothing is stored. */
  pipeline?: string;
  version?: number;
  document: string;
  /** The parsed document; null if the server could not parse it. */
  value: PipelineDocument | null;
  readOnly: boolean;
  user: string;
  code?: string | null;
}

/** The stored version, as far as this page knows. */
export interface Stored {
  readonly pipeline: string;
  readonly version: number;
}

/** The view of the document. */
export type Look = "canvas" | "split" | "text";

/** UI state outside of the document. Immutable; changes replace it. */
export interface SessionState {
  readonly surroundings: Surroundings;
  /** Null while nothing is stored. */
  readonly stored: Stored | null;
  /** The stored document, as a baseline for changes. */
  readonly base: PipelineDocument;
  readonly baseText: string;
  readonly saving: boolean;
  readonly look: Look;
  /** Unparsable text with its problems; the canvas shows the last valid document. */
  readonly broken: { readonly text: string; readonly problems: readonly Problem[] } | null;
  /** The newest version saved by another user; see `unseen`. */
  readonly newer: Newer | null;
  /** Another user's changes that were merged into the document and are not saved yet. */
  readonly merged: Merged | null;
  /** Unsaved changes of an earlier visit, while they are offered. */
  readonly draft: Draft | null;
  /** The content of the right panel; null while it is closed. */
  readonly panel: "form" | "versions" | null;
  /** The version to compare with. */
  readonly chosen: ReadVersion | null;
  /** The run whose states are shown. */
  readonly run: Run | null;
  /** The task whose log is open. */
  readonly log: string | null;
}

/** Up to this width, in pixels, the panels overlay the canvas and start closed. */
const NARROW = 800;

export class Session {
  readonly project: string;
  readonly user: string;
  /** The digest of the pipeline's code folder; null if it has none. */
  readonly code: string | null;
  /** Whether this user may not change it. */
  readonly readOnly: boolean;
  readonly store: EditorStore;
  readonly source: Source;
  readonly cell: Cell<SessionState>;

  constructor(start: Start) {
    const document = start.value ?? emptyDocument(start.pipeline ?? "");
    const stored = start.pipeline !== undefined && start.version !== undefined ? { pipeline: start.pipeline, version: start.version } : null;
    this.project = start.project;
    this.user = start.user;
    this.code = start.code ?? null;
    this.readOnly = start.readOnly;
    this.store = new EditorStore(document, start.readOnly);
    this.source = new Source(start.document, start.value);
    this.cell = new Cell<SessionState>({
      surroundings: NOTHING_YET,
      stored,
      base: document,
      baseText: start.document,
      saving: false,
      look: start.value ? "canvas" : "text",
      broken: start.value ? null : { text: start.document, problems: [] },
      newer: null,
      merged: null,
      draft: null,
      panel: innerWidth > NARROW ? "form" : null,
      chosen: null,
      run: null,
      log: null,
    });
  }

  get state(): SessionState {
    return this.cell.value;
  }

  /** Whether leaving would lose changes. */
  get dirty(): boolean {
    const { base, baseText, broken } = this.state;
    if (this.readOnly) return false;
    return broken ? broken.text !== baseText : this.store.state.document !== base;
  }

  /** The current text, even if it is unparsable. */
  text(): Promise<string> {
    const { broken } = this.state;
    return broken ? Promise.resolve(broken.text) : this.source.text(this.store.state.document);
  }

  /** Discards unparsable text: the last valid document stays. */
  mend(): void {
    this.store.set({ readOnly: this.readOnly });
    if (this.state.broken) this.cell.set({ broken: null });
  }

  /** Applies edited text: one undo step, or none while it is unparsable. */
  async take(text: string): Promise<void> {
    if (text === this.source.known(this.store.state.document)) {
      this.mend();
      return;
    }
    const before = this.store.state.document;
    const read = await this.source.peek(text);
    if (!read.document) {
      this.store.set({ readOnly: true });
      this.cell.set({ broken: { text, problems: read.problems } });
      return;
    }
    if (this.store.state.document === before) this.replace(t("editor.step-text"), read.document, text, "text");
    else await this.#join(before, read.document, text);
  }

  /** Parsing a long text takes a while, during which the canvas may be edited: both changes are kept. */
  async #join(before: PipelineDocument, written: PipelineDocument, text: string): Promise<void> {
    const { merge } = await import("../graph/merge");
    const mine = this.store.state.document;
    const { conflicts } = merge(before, mine, written);
    const { document } = merge(before, mine, written, new Map(conflicts.map(({ id }) => [id, "theirs"])));
    this.replace(t("editor.step-text"), written, text, "text");
    this.store.apply(t("editor.step-text"), () => document, { merge: "text" });
  }

  /** Replaces the document, along with its text, in one undo step. */
  replace(label: string, document: PipelineDocument, text: string, merge?: string): void {
    this.mend();
    this.source.follow(document, text);
    this.store.apply(label, () => document, merge === undefined ? {} : { merge });
  }
}
