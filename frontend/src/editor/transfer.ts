//! Documents as files: opened, dropped onto the page, or downloaded.

import { h } from "../core/dom";
import { hand } from "../core/hand";
import { t } from "../core/texts";
import { toast } from "../core/toast";
import type { Session } from "./session";

const LARGEST = 4 << 20;

/** Opens a file dialog for YAML or JSON, and loads the file. */
export function askFile(session: Session): void {
  const input = h("input", { type: "file", accept: ".yaml,.yml,.json,application/yaml,application/json" });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) void takeFile(session, file);
  });
  input.click();
}

/** Replaces the document by a file's, in one undo step. A stored pipeline keeps its name. */
export async function takeFile(session: Session, file: File): Promise<void> {
  if (session.readOnly) return;
  if (file.size > LARGEST) {
    toast(t("editor.file-too-large", { name: file.name }), "error");
    return;
  }
  const text = await file.text();
  const read = await session.source.peek(text);
  if (!read.document) {
    const first = read.problems[0];
    const where = first?.line === undefined ? "" : `${t("pipeline.line", { line: first.line })}: `;
    toast(t("editor.file-unreadable", { name: file.name, why: `${where}${first?.message ?? ""}` }), "error");
    return;
  }
  session.replace(t("editor.step-import", { name: file.name }), read.document, text);
  const name = session.state.stored?.pipeline;
  if (name !== undefined && read.document.name !== name) {
    session.store.apply(t("editor.step-import", { name: file.name }), (document) => ({ ...document, name }));
  }
  toast(t("editor.file-taken", { name: file.name }));
}

/** Accepts files dropped anywhere on the page. Returns the unsubscribe function. */
export function watchDrops(session: Session): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (!file || event.defaultPrevented) return;
    event.preventDefault();
    void takeFile(session, file);
  };
  window.addEventListener("dragover", over);
  window.addEventListener("drop", drop);
  return () => {
    window.removeEventListener("dragover", over);
    window.removeEventListener("drop", drop);
  };
}

/** Downloads the current document. */
export async function download(session: Session, form: "yaml" | "json"): Promise<void> {
  const { document } = session.store.state;
  const json = () => `${JSON.stringify(document, undefined, 2)}\n`;
  const text = form === "json" ? json() : await session.text();
  hand(`${document.name || "pipeline"}.${form}`, text, form === "json" ? "application/json" : "application/yaml");
}
