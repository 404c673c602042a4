//! YAML and JSON to documents, and back.

import { parseDocument, stringify } from "yaml";
import type { PipelineDocument } from "../graph/document";
import type { Read } from "./source";

/** A document, or what is wrong with the text. */
export function read(text: string): Read {
  const parsed = parseDocument(text, { prettyErrors: true });
  const problems = parsed.errors.map((error) => ({
    severity: "error" as const,
    code: "syntax",
    path: "",
    message: error.message.split("\n")[0] ?? "",
    ...(error.linePos ? { line: error.linePos[0].line, column: error.linePos[0].col } : {}),
  }));
  if (problems.length > 0) return { problems };
  return { document: parsed.toJS() as PipelineDocument };
}

/** The text of a document. */
export function written(_before: string, document: PipelineDocument): string {
  return stringify(document);
}
