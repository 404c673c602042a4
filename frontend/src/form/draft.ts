//! Text that is being written. What stands in a field stays as a person writes it (`1.`, a space at the end) as long as
//! it means what the document holds; when the document changes otherwise, by undo or by a colleague, the field follows.

import { useState } from "react";
import type { Json } from "../graph/document";
import { same } from "./path";

/** A field's text, and what to call when it is changed and when the field is left. */
export interface Draft {
  readonly text: string;
  readonly change: (text: string) => void;
  readonly leave: () => void;
}

/** `read` is what a text means; `show` is how a value is written. */
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

/** A value as it stands in a line of text. */
export function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Text: nothing is no value. */
export function readText(text: string): Json | undefined {
  return text === "" ? undefined : text;
}

/** A number, when it is one; whatever else is kept as it was written. */
export function readNumber(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
}

/** A number or a truth value when it is written as one would write it, else text: `08` stays text. */
export function readScalar(text: string): Json {
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}
