//! Notes: texts on the canvas.

import type { Note, PipelineDocument } from "../document";
import { withCanvas, without } from "./base";
import { freeId } from "./frames";

/** Adds a note. Also returns its id. */
export function addNote(document: PipelineDocument, note: Note): { document: PipelineDocument; id: string } {
  const id = freeId("n", document.canvas?.notes);
  return { document: withCanvas(document, { notes: { ...document.canvas?.notes, [id]: note } }), id };
}

/** Changes a note's text, position or size. */
export function changeNote(document: PipelineDocument, id: string, parts: Partial<Note>): PipelineDocument {
  const note = document.canvas?.notes?.[id];
  if (!note || Object.entries(parts).every(([key, value]) => same(note[key as keyof Note], value))) return document;
  return withCanvas(document, { notes: { ...document.canvas.notes, [id]: { ...note, ...parts } } });
}

export function removeNotes(document: PipelineDocument, ids: ReadonlySet<string>): PipelineDocument {
  const notes = document.canvas?.notes;
  if (!notes || !Object.keys(notes).some((id) => ids.has(id))) return document;
  return withCanvas(document, { notes: without(Object.fromEntries(Object.entries(notes).map(([id, note]) => [id, ids.has(id) ? undefined : note]))) as Record<string, Note> });
}

function same(a: unknown, b: unknown): boolean {
  return Array.isArray(a) && Array.isArray(b) ? a[0] === b[0] && a[1] === b[1] : a === b;
}
