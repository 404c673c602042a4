//! A field that takes one of many names, filtered by typing.

import { useState, type KeyboardEvent } from "react";
import { SuggestionList } from "./suggestion-list";

interface PickerParts {
  readonly id: string;
  readonly options: readonly string[];
  readonly placeholder: string;
  readonly label?: string;
  readonly describedBy?: string | undefined;
  readonly invalid?: boolean;
  /** Whether any other name can be taken, too. */
  readonly free?: boolean;
  /** The present name, shown while nothing is typed. Without it, the field is empty. */
  readonly value?: string;
  readonly readOnly?: boolean;
  /** What is said beside an option. */
  readonly noteOf?: (name: string) => string;
  /** The maximum number of shown options. */
  readonly most?: number;
  readonly pick: (name: string) => void;
}

const MOST = 50;

/** The field. Once a name was chosen, what was typed is removed. */
export function Picker({ id, options, placeholder, label, describedBy, invalid = false, free = false, value = "", readOnly = false, noteOf, most = MOST, pick }: PickerParts) {
  const [text, setText] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState<number | null>(null);
  const sought = plain(text ?? "");
  const fitting = open && !readOnly ? options.filter((name) => plain(name).includes(sought)).slice(0, most) : [];
  const index = Math.max(0, Math.min(chosen ?? (text === null ? fitting.indexOf(value) : 0), fitting.length - 1));
  const close = () => {
    setText(null);
    setOpen(false);
    setChosen(null);
  };
  const take = (name: string) => {
    close();
    if (name !== "") pick(name);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" && !open) setOpen(true);
    else if (event.key === "ArrowDown") setChosen((index + 1) % Math.max(1, fitting.length));
    else if (event.key === "ArrowUp" && open) setChosen((index + fitting.length - 1) % Math.max(1, fitting.length));
    else if (event.key === "Enter") take(fitting[index] ?? (free ? (text ?? "").trim() : ""));
    else if (event.key === "Escape" && open) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="suggest-box">
      <input
        className="input" id={id} value={text ?? value} placeholder={placeholder} autoComplete="off" spellCheck={false} disabled={options.length === 0 && !free} readOnly={readOnly}
        role="combobox" aria-autocomplete="list" aria-expanded={fitting.length > 0} aria-controls={fitting.length > 0 ? `${id}-list` : undefined}
        aria-activedescendant={fitting.length > 0 ? `${id}-option-${index}` : undefined}
        aria-label={label} aria-describedby={describedBy} aria-invalid={invalid ? true : undefined}
        onChange={(event) => {
          setText(event.target.value);
          setOpen(true);
          setChosen(null);
        }}
        onClick={(event) => {
          // What is typed next replaces the present name.
          if (text === null && value !== "") event.currentTarget.select();
          setOpen(true);
        }}
        onKeyDown={key}
        onBlur={close}
      />
      <SuggestionList id={id} options={fitting.map((name) => ({ label: name, detail: noteOf?.(name) ?? "" }))} chosen={index} accept={({ label: name }) => { take(name); }} />
    </div>
  );
}

// "new york" finds America/New_York.
function plain(name: string): string {
  return name.trim().toLowerCase().replaceAll("_", " ");
}
