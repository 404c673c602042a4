//! One sitting at one pipeline: its document, what of it is stored, and how it is stored.

import type { Problem } from "../api/problem";
import type { PipelineDocument } from "../graph/document";
import { emptyDocument } from "../graph/document";
import { t } from "../core/texts";
import { Cell } from "./cell";
import type { Draft } from "./drafts";
import { NOTHING_YET, type Surroundings } from "./load";
import type { Run } from "./live";
import type { Newer } from "./peers";
import { Source } from "./source";
import { EditorStore } from "./store";
import type { ReadVersion } from "./versions";

/** What the page carries. */
export interface Start {
  project: string;
  /** Absent while nothing is stored. */
  pipeline?: string;
  version?: number;
  document: string;
  /** The document as data; null when the server could not read it. */
  value: PipelineDocument | null;
  readOnly: boolean;
  user: string;
  code?: string | null;
}

/** What the server has, as far as this page knows. */
export interface Stored {
  readonly pipeline: string;
  readonly version: number;
}

/** How the document is shown. */
export type Look = "canvas" | "split" | "text";

/** What is shown and is no part of the document. Replaced, never changed. */
export interface SessionState {
  readonly surroundings: Surroundings;
  /** Null while nothing is stored. */
  readonly stored: Stored | null;
  /** The document that is stored; what the present one is compared with. */
  readonly base: PipelineDocument;
  readonly baseText: string;
  readonly saving: boolean;
  readonly look: Look;
  /** What the text says that cannot be read, and why: the canvas shows the last that could. */
  readonly broken: { readonly text: string; readonly problems: readonly Problem[] } | null;
  /** The newest version that somebody else has saved; see `unseen`. */
  readonly newer: Newer | null;
  /** Unsaved work of an earlier visit, while it is offered. */
  readonly draft: Draft | null;
  /** What the panel on the right shows; null while it is folded away. */
  readonly panel: "form" | "versions" | null;
  /** The version whose difference is shown. */
  readonly chosen: ReadVersion | null;
  /** The run whose states are shown. */
  readonly run: Run | null;
  /** The task whose log is open. */
  readonly log: string | null;
}

/** Up to this width, in pixels, the panels lie over the canvas, and are closed at first. */
const NARROW = 800;

/** The session of the page. */
export class Session {
  readonly project: string;
  readonly user: string;
  /** The digest of the pipeline's folder of code; null when it has none. */
  readonly code: string | null;
  /** Whether this person may not change it. */
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

  /** Whether something would be lost by leaving. */
  get dirty(): boolean {
    const { base, baseText, broken } = this.state;
    if (this.readOnly) return false;
    return broken ? broken.text !== baseText : this.store.state.document !== base;
  }

  /** The text as it is now, also when it cannot be read. */
  text(): Promise<string> {
    const { broken } = this.state;
    return broken ? Promise.resolve(broken.text) : this.source.text(this.store.state.document);
  }

  /** Lets a text go that cannot be read: the last that could holds again. */
  mend(): void {
    this.store.set({ readOnly: this.readOnly });
    if (this.state.broken) this.cell.set({ broken: null });
  }

  /** Takes what somebody wrote as text: one step, or nothing while it cannot be read. */
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

  /** A long text takes a while to read, and somebody may have worked on the canvas meanwhile: both are kept. */
  async #join(before: PipelineDocument, written: PipelineDocument, text: string): Promise<void> {
    const { merge } = await import("../graph/merge");
    const mine = this.store.state.document;
    const { conflicts } = merge(before, mine, written);
    const { document } = merge(before, mine, written, new Map(conflicts.map(({ id }) => [id, "theirs"])));
    this.replace(t("editor.step-text"), written, text, "text");
    this.store.apply(t("editor.step-text"), () => document, { merge: "text" });
  }

  /** Another document in the place of the present one, with the text that says it: one step. */
  replace(label: string, document: PipelineDocument, text: string, merge?: string): void {
    this.mend();
    this.source.follow(document, text);
    this.store.apply(label, () => document, merge === undefined ? {} : { merge });
  }
}
