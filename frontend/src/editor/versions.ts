//! The stored versions of the pipeline: read, compared with on the canvas, brought back.

import { request } from "../api/client";
import type { Page, Schema } from "../api/typed";
import type { PipelineDocument } from "../graph/document";
import { t } from "../core/texts";
import { toast } from "../core/toast";
import type { Session } from "./session";

/** A version, without its document. */
export type VersionInfo = Schema<"VersionView">;

/** A version that was read. */
export interface ReadVersion extends Omit<VersionInfo, "document"> {
  readonly text: string;
  readonly document: PipelineDocument;
}

/** A part of the list, the newest first. */
export type VersionPage = Page<VersionInfo>;

function pathOf(session: Session) {
  return `/projects/${session.project}/pipelines/${session.state.stored?.pipeline ?? ""}/versions` as const;
}

/** A part of the list; `cursor` is that of the part before. */
export async function listVersions(session: Session, cursor?: string | null): Promise<VersionPage> {
  const after = typeof cursor !== "string" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  return (await request("GET", `${pathOf(session)}?limit=50${after}`)).data;
}

/** Reads one version. Throws when its text cannot be read. */
export async function readVersion(session: Session, version: number): Promise<ReadVersion> {
  const { data } = await request("GET", `${pathOf(session)}/${version}`);
  const text = data.document ?? "";
  const read = await session.source.peek(text);
  if (!read.document) throw new Error(t("editor.version-unreadable", { version }));
  return { ...data, text, document: read.document };
}

/** Makes a version's document the present one: a step that can be taken back. */
export function restore(session: Session, version: ReadVersion): void {
  session.store.set({ against: null });
  session.cell.set({ chosen: null });
  session.replace(t("editor.step-restore", { version: version.version }), version.document, version.text);
  // What is saved from here keeps the newest version's folder.
  if ((version.code ?? null) !== session.code) toast(t("editor.restore-code", { version: version.version }), "error");
}

/** Takes over what somebody else has saved: from now on it is what is stored. */
export function takeOver(session: Session, version: ReadVersion, label: string): void {
  session.replace(label, version.document, version.text);
  rebase(session, version);
}

/** What is stored is another version now; the present document stays. */
export function rebase(session: Session, version: ReadVersion): void {
  const { stored } = session.state;
  if (!stored) return;
  session.cell.set({ stored: { ...stored, version: version.version }, base: version.document, baseText: version.text });
}
