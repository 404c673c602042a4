//! Completion of a text field: the suggestions at the caret, and the keys that select one.

import { useLayoutEffect, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import type { Path } from "../../graph/edit";
import { useForm } from "../context";
import { among, suggest, type Suggestion, type Suggestions } from "../suggest";

type Field = HTMLInputElement | HTMLTextAreaElement;

interface Parts {
  readonly text: string;
  /** The path of the text; absent if expressions are not allowed. */
  readonly path: Path | undefined;
  /** Possible values of the whole text. */
  readonly names: readonly string[] | undefined;
  readonly change: (text: string) => void;
}

/** State and handlers of a field's completion. */
export function useSuggestions(field: RefObject<Field | null>, { text, path, names, change }: Parts) {
  const form = useForm();
  const [found, setFound] = useState<Suggestions | null>(null);
  const [chosen, setChosen] = useState(0);
  const caret = useRef<number | null>(null);
  // After an insertion, the caret moves behind it.
  useLayoutEffect(() => {
    if (caret.current === null) return;
    field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  const close = () => { setFound(null); };
  const look = (now: string, at: number, asked = false) => {
    setFound(path ? suggest(form, path, now, at, asked) ?? among(names, now, asked) : null);
    setChosen(0);
  };
  const accept = (suggestion: Suggestion) => {
    if (!found || !field.current) return;
    caret.current = found.from + suggestion.label.length;
    change(text.slice(0, found.from) + suggestion.label + text.slice(found.to));
    close();
  };
  const key = (event: KeyboardEvent<Field>): boolean => {
    if (event.key === " " && event.ctrlKey) look(text, event.currentTarget.selectionStart ?? text.length, true);
    else if (!found) return false;
    else if (event.key === "ArrowDown") setChosen((chosen + 1) % found.options.length);
    else if (event.key === "ArrowUp") setChosen((chosen + found.options.length - 1) % found.options.length);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" || event.key === "Tab") accept(found.options[chosen] ?? { label: "" });
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const attributes = (id: string) => ({
    role: "combobox", "aria-autocomplete": "list" as const, "aria-expanded": found !== null,
    "aria-controls": found ? `${id}-list` : undefined,
    "aria-activedescendant": found ? `${id}-option-${chosen}` : undefined,
  });
  return { look, key, close, attributes, list: { options: found?.options ?? [], chosen, accept } };
}
