//! Drafts: unsaved changes in this browser's storage, so that a closed window or a crash loses nothing.

import type { PipelineDocument } from "../graph/document";
import { equal } from "../graph/equal";
import { t } from "../core/texts";
import type { Merged } from "./reconcile";
import type { Session } from "./session";
import { readVersion, rebase } from "./versions";

const WAIT_MS = 800;
const PREFIX = "cubeloom.draft.";

export interface Draft {
  /** The version that it is based on; absent for a pipeline that was never stored. */
  readonly version?: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly document: PipelineDocument;
  /** The text, if known. */
  readonly text?: string;
  /** Another user's changes that it contains. */
  readonly merged?: Merged;
}

function keyOf(session: Session): string {
  return `${PREFIX}${session.user}/${session.project}/${session.state.stored?.pipeline ?? ""}`;
}

/** The draft of an earlier visit; null if there is none. */
export function draftOf(session: Session): Draft | null {
  const kept = localStorage.getItem(keyOf(session));
  if (kept === null || session.readOnly) return null;
  try {
    const draft = JSON.parse(kept) as Draft;
    const same = draft.text === undefined ? equal(draft.document, session.state.base) : draft.text === session.state.baseText;
    return same ? null : draft;
  } catch {
    localStorage.removeItem(keyOf(session));
    return null;
  }
}

/** Restores a draft, as a step that can be undone. */
export async function takeUp(session: Session, draft: Draft): Promise<void> {
  const { stored } = session.state;
  if (draft.version !== undefined && stored && draft.version !== stored.version) {
    // It is based on an older version: newer ones are reported like another user's change.
    const { version, user, message, created_at } = await readVersion(session, stored.version);
    rebase(session, await readVersion(session, draft.version));
    session.cell.set({ newer: { version, user, message, created_at } });
  }
  if (draft.text === undefined) session.store.apply(t("editor.step-draft"), () => draft.document);
  else session.replace(t("editor.step-draft"), draft.document, draft.text);
  session.cell.set({ draft: null, merged: draft.merged ?? null });
}

/** Deletes the stored draft. */
export function forget(session: Session): void {
  localStorage.removeItem(keyOf(session));
}

/** Stores unsaved changes, a moment after each change. Returns the stop function. */
export function keepDrafts(session: Session): () => void {
  if (session.readOnly) return () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = () => ({ document: session.store.state.document, broken: session.state.broken, dirty: session.dirty });
  let seen = now();
  const keep = () => {
    clearTimeout(timer);
    timer = undefined;
    if (session.dirty) write(session);
    // An offered draft is deleted only when the user discards it.
    else if (session.state.draft === null) forget(session);
  };
  const changed = () => {
    const present = now();
    if (present.document === seen.document && present.broken === seen.broken && present.dirty === seen.dirty) return;
    seen = present;
    timer ??= setTimeout(keep, WAIT_MS);
  };
  const leave = () => {
    if (timer !== undefined) keep();
  };
  const stops = [session.store.subscribe(changed), session.cell.subscribe(changed)];
  // A busy browser may start this after the first change.
  if (session.dirty) timer = setTimeout(keep, WAIT_MS);
  window.addEventListener("pagehide", leave);
  return () => {
    for (const stop of stops) stop();
    window.removeEventListener("pagehide", leave);
    leave();
  };
}

function write(session: Session): void {
  const { document } = session.store.state;
  const { stored, broken, merged } = session.state;
  const text = broken?.text ?? session.source.known(document);
  const draft: Draft = { at: Date.now(), document, ...(stored ? { version: stored.version } : {}), ...(text === undefined ? {} : { text }), ...(merged ? { merged } : {}) };
  try {
    localStorage.setItem(keyOf(session), JSON.stringify(draft));
  } catch {
    // The browser's storage is full: leaving still asks.
  }
}
