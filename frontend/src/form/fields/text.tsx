//! Text of one or more lines with expressions, and their completion.

import { useRef } from "react";
import type { Path } from "../../graph/edit";
import { isExpression } from "../schema/fits";
import { useSuggestions } from "./suggest";
import { SuggestionList } from "./suggestion-list";

/** Props of a text field. It is labelled either by a label for `id`, or by `label`. */
export interface TextParts {
  readonly id: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onLeave: () => void;
  readonly label?: string | undefined;
  readonly describedBy?: string | undefined;
  readonly invalid?: boolean;
  readonly readOnly?: boolean;
  readonly placeholder?: string | undefined;
  readonly long?: boolean;
  readonly mono?: boolean;
  readonly inputMode?: "numeric" | "decimal" | undefined;
  /** The whole text is an expression, without braces around it. */
  readonly bare?: boolean;
  /**
   * The path of the text, which determines the names in expressions; absent if expressions are not allowed.
   */
  readonly path?: Path | undefined;
  /** Suggested values of the whole text; others are allowed. */
  readonly names?: readonly string[] | undefined;
  readonly onKeyDown?: (event: React.KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
  readonly onPaste?: (event: React.ClipboardEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
}

/** The field. It is a text area if it is long, or if its text has several lines. */
export function TextField(parts: TextParts) {
  const { id, text, long = false, bare = false, path } = parts;
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const suggestions = useSuggestions(input, { text, path: parts.readOnly ? undefined : path, names: parts.names, change: parts.onText });
  const lines = text.split("\n").length;
  const shared = {
    id, ref: input, value: text,
    className: parts.mono || bare ? "input mono" : "input",
    placeholder: parts.placeholder ?? "",
    readOnly: parts.readOnly ?? false,
    autoComplete: "off", spellCheck: false,
    "aria-label": parts.label, "aria-describedby": parts.describedBy, "aria-invalid": parts.invalid ? true : undefined,
    "data-expression": path && (bare ? text !== "" : isExpression(text)) ? "" : undefined,
    ...(path ? suggestions.attributes(id) : {}),
    onChange: (event: React.ChangeEvent<HTMLInputElement & HTMLTextAreaElement>) => {
      parts.onText(event.target.value);
      suggestions.look(event.target.value, event.target.selectionStart);
    },
    onKeyDown: (event: React.KeyboardEvent<HTMLInputElement & HTMLTextAreaElement>) => {
      if (!suggestions.key(event)) parts.onKeyDown?.(event);
    },
    onClick: () => { if (parts.names && text === "" && !parts.readOnly) suggestions.look("", 0, true); },
    onPaste: parts.onPaste,
    onBlur: () => {
      suggestions.close();
      parts.onLeave();
    },
  };
  return (
    <div className="suggest-box">
      {long || lines > 1 ? <textarea {...shared} rows={Math.min(14, Math.max(lines, long ? 3 : 2))} /> : <input {...shared} type="text" inputMode={parts.inputMode} />}
      <SuggestionList id={id} {...suggestions.list} />
    </div>
  );
}
