//! Language-independent problems of a document, for pure code.

import type { Problem } from "../api/problem";

/** Codes of the server that the browser uses, too. */
export type Code =
  | "syntax" | "too_large" | "unknown_version" | "duplicate_key" | "missing_key" | "wrong_type" | "invalid_value" | "invalid_name" | "duplicate_name"
  | "unknown_task" | "cycle" | "unknown_template" | "undefined_name" | "output_not_available" | "invalid_expression" | "invalid_argument" | "conflict" | "suspicious";

/** One problem. `path` is a JSON pointer, `text` a key of texts/graph.json, `values` its placeholders. */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly code: Code;
  readonly path: string;
  readonly text: string;
  readonly values: Readonly<Record<string, string | number>>;
  readonly line?: number;
  readonly column?: number;
}

/** An error that prevents a run. */
export function mistake(code: Code, path: string, text: string, values: Readonly<Record<string, string | number>> = {}): Finding {
  return { severity: "error", code, path, text, values };
}

/** A problem as text; `say` is `t` of core/texts.ts. */
export function worded({ text, values, ...finding }: Finding, say: (key: string, values: Record<string, string | number>) => string): Problem {
  return { ...finding, message: say(text, { ...values }) };
}

/** A JSON pointer (RFC 6901). */
export function pointer(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The segments of a JSON pointer; numbers stay strings. */
export function partsOf(path: string): string[] {
  return path.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
