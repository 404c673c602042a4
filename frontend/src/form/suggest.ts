//! The names that an expression can use at the caret.

import { t } from "../core/texts";
import { candidates } from "../graph/complete";
import type { Path } from "../graph/edit";
import type { FormState } from "./context";

/** An insertable text. */
export interface Suggestion {
  readonly label: string;
  readonly detail?: string;
}

/** The suggestions, and the range of text that they replace. */
export interface Suggestions {
  readonly from: number;
  readonly to: number;
  readonly options: readonly Suggestion[];
}

/** The maximum number of shown suggestions. */
const MOST = 60;

/** Suggested values of the whole text; null if none fits. Unless `asked`, a word must have been started. */
export function among(names: readonly string[] | undefined, text: string, asked: boolean): Suggestions | null {
  const sought = text.trim().toLowerCase();
  if (sought === "" && !asked) return null;
  const fitting = (names ?? []).filter((name) => name.toLowerCase().includes(sought) && name !== text).slice(0, MOST);
  return fitting.length > 0 ? { from: 0, to: text.length, options: fitting.map((label) => ({ label })) } : null;
}

/**
 * Suggestions at a caret; null outside of expressions, or if none fits. Unless `asked`, a word must have been
 * started.
 */
export function suggest({ document, tasks, templates }: FormState, path: Path, text: string, caret: number, asked: boolean): Suggestions | null {
  const found = candidates({ document, task: tasks[0]?.name, path, templates }, text, caret);
  if (!found || (!asked && found.from === caret && !/\{\{\s*$|\|\s*$/.test(text.slice(0, caret)))) return null;
  const written = text.slice(found.from, found.to);
  const options = found.options.filter((option) => option.label !== written).slice(0, MOST).map(({ label, detail, text: key }) => ({ label, detail: detail ?? (key ? t(key) : "") }));
  return options.length > 0 ? { from: found.from, to: found.to, options } : null;
}
