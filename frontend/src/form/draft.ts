//! Text being edited. A field keeps its text (`1.`, a trailing space) as long as it means the document's
//! value. When the document changes otherwise, by undo or by another user, the field follows.

import { useState } from "react";
import type { Json } from "../graph/document";
import { same } from "./path";

/** A field's text, and its change and blur handlers. */
export interface Draft {
  readonly text: string;
  readonly change: (text: string) => void;
  readonly leave: () => void;
}

/** `read` parses a text; `show` formats a value. */
export function useDraft(
  { value, set, seal }: { value: Json | undefined; set: (value: Json | undefined) => void; seal: () => void },
  read: (text: string) => Json | undefined,
  show: (value: Json | undefined) => string,
): Draft {
  const [draft, setDraft] = useState<string | null>(null);
  return {
    text: draft !== null && same(read(draft), value) ? draft : show(value),
    change: (text) => {
      setDraft(text);
      set(read(text));
    },
    leave: () => {
      setDraft(null);
      seal();
    },
  };
}

/** A value formatted as one line of text. */
export function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Text; empty text is no value. */
export function readText(text: string): Json | undefined {
  return text === "" ? undefined : text;
}

/** A number, if it is one; any other text is kept. */
export function readNumber(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
}

/** A number or boolean in canonical form, else text: `08` stays text. */
export function readScalar(text: string): Json {
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}
