//! The stored versions of the pipeline: reading, comparing on the canvas, restoring.

import { request } from "../api/client";
import type { Page, Schema } from "../api/typed";
import type { PipelineDocument } from "../graph/document";
import { t } from "../core/texts";
import { toast } from "../core/toast";
import type { Session } from "./session";

/** A version, without its document. */
export type VersionInfo = Schema<"VersionView">;

export interface ReadVersion extends Omit<VersionInfo, "document"> {
  readonly text: string;
  readonly document: PipelineDocument;
}

/** A page of the list, newest first. */
export type VersionPage = Page<VersionInfo>;

function pathOf(session: Session) {
  return `/projects/${session.project}/pipelines/${session.state.stored?.pipeline ?? ""}/versions` as const;
}

/** A page of the list; `cursor` is the previous page's. */
export async function listVersions(session: Session, cursor?: string | null): Promise<VersionPage> {
  const after = typeof cursor !== "string" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  return (await request("GET", `${pathOf(session)}?limit=50${after}`)).data;
}

/** Reads one version. Throws if its text cannot be parsed. */
export async function readVersion(session: Session, version: number): Promise<ReadVersion> {
  const { data } = await request("GET", `${pathOf(session)}/${version}`);
  const text = data.document ?? "";
  const read = await session.source.peek(text);
  if (!read.document) throw new Error(t("editor.version-unreadable", { version }));
  return { ...data, text, document: read.document };
}

/** Restores a version's document, as a step that can be undone. */
export function restore(session: Session, version: ReadVersion): void {
  session.store.set({ against: null });
  session.cell.set({ chosen: null });
  session.replace(t("editor.step-restore", { version: version.version }), version.document, version.text);
  // A save from here keeps the newest version's code folder.
  if ((version.code ?? null) !== session.code) toast(t("editor.restore-code", { version: version.version }), "error");
}

/** Loads another user's version, which becomes the stored one. */
export function takeOver(session: Session, version: ReadVersion, label: string): void {
  session.replace(label, version.document, version.text);
  rebase(session, version);
  session.cell.set({ merged: null });
}

/** Sets the stored version and keeps the current document. */
export function rebase(session: Session, version: ReadVersion): void {
  const { stored } = session.state;
  if (!stored) return;
  session.cell.set({ stored: { ...stored, version: version.version }, base: version.document, baseText: version.text });
}
