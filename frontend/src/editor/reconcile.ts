//! Merges concurrent edits by task and field, and asks about conflicts.

import { h } from "../core/dom";
import { openDialog } from "../core/dialog";
import { t } from "../core/texts";
import type { Json, PipelineDocument } from "../graph/document";
import { equal } from "../graph/equal";
import { merge, type Conflict, type Side } from "../graph/merge";
import type { Session, SessionState } from "./session";
import { readVersion, rebase, takeOver } from "./versions";

/** Another user's version that was merged. */
export interface Merged {
  readonly user: string;
  readonly version: number;
}

/** The part of the state that a merge changes. */
type Before = Pick<SessionState, "stored" | "base" | "baseText" | "merged">;

/** Merges the document with another user's version, in one undo step. A banner says that it is not saved yet. */
export async function reconcile(session: Session, version: number): Promise<void> {
  // Documents are merged: a text that cannot be read has none.
  if (session.state.broken) throw new Error(t("editor.broken"));
  const theirs = await readVersion(session, version);
  const mine = session.store.state.document;
  const { stored, base, baseText, merged } = session.state;
  const { conflicts } = merge(base, mine, theirs.document);
  const choices = conflicts.length === 0 ? new Map<string, Side>() : await ask(conflicts, theirs.user);
  // The document may have changed while the dialog was open.
  if (choices === null || session.store.state.document !== mine) return;
  const { document } = merge(base, mine, theirs.document, choices);
  session.store.set({ against: null });
  session.cell.set({ chosen: null });
  const step = t("editor.step-merge", { user: theirs.user, version });
  if (equal(document, theirs.document)) {
    takeOver(session, theirs, step);
    return;
  }
  session.store.apply(step, () => document);
  rebase(session, theirs);
  session.cell.set({ merged: { user: theirs.user, version } });
  followUndo(session, mine, { stored, base, baseText, merged });
}

/** Undoing the merge restores the former base: otherwise, the next save would overwrite the other user's changes. */
function followUndo(session: Session, mine: PipelineDocument, before: Before): void {
  const { merged } = session.state;
  const stop = session.store.subscribe(() => {
    if (session.state.merged !== merged || session.store.state.document !== mine) return;
    stop();
    session.cell.set(before);
  });
}

/** Asks about each conflict; null if the user cancels. */
function ask(conflicts: readonly Conflict[], user: string): Promise<Map<string, Side> | null> {
  return new Promise((resolve) => {
    const form = h("form", { class: "form", id: "merge-form" }, h("p", {}, t("editor.merge-text", { user })));
    form.append(...conflicts.map((conflict, at) => question(conflict, at, user)));
    const go = h("button", { class: "button primary", type: "submit", form: "merge-form" }, t("editor.newer-merge"));
    const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
    const dialog = openDialog({ title: t("editor.merge"), body: [form], actions: [cancel, go], large: true });
    cancel.addEventListener("click", () => { dialog.close(); });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      dialog.close("merge");
    });
    dialog.addEventListener("close", () => { resolve(dialog.returnValue === "merge" ? chosen(conflicts, new FormData(form)) : null); });
  });
}

function chosen(conflicts: readonly Conflict[], data: FormData): Map<string, Side> {
  return new Map(conflicts.map(({ id }, at) => [id, data.get(`c${at}`) === "theirs" ? "theirs" : "mine"]));
}

function question({ task, path, mine, theirs }: Conflict, at: number, user: string): HTMLElement {
  const side = (value: Side, label: string, shown: Json | undefined) =>
    h("label", { class: "ed-conflict-side" }, h("input", { type: "radio", name: `c${at}`, value, checked: value === "mine" }), h("span", {}, label), h("pre", { class: "value" }, written(shown)));
  const where = [task ?? t("editor.pipeline"), ...path].join(" · ");
  return h("fieldset", { class: "ed-conflict" }, h("legend", { class: "mono" }, where), side("mine", t("editor.mine"), mine), side("theirs", t("editor.theirs", { user }), theirs));
}

/** Values up to this many characters are shown on one line. */
const LINE = 60;

/** A value as readable text. */
export function written(value: Json | undefined): string {
  if (value === undefined) return t("editor.gone");
  if (typeof value === "string") return value;
  const lines = JSON.stringify(value, undefined, 1);
  const line = lines.replace(/\n */g, " ");
  return line.length <= LINE ? line : lines;
}
