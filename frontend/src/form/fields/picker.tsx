//! A field that adds one of many names, filtered by typing.

import { useState, type KeyboardEvent } from "react";
import { SuggestionList } from "./suggestion-list";

interface PickerParts {
  readonly id: string;
  readonly options: readonly string[];
  readonly placeholder: string;
  readonly label?: string;
  readonly describedBy?: string | undefined;
  readonly invalid?: boolean;
  /** Whether any other name can be added, too. */
  readonly free?: boolean;
  readonly pick: (name: string) => void;
}

/** The maximum number of shown options. */
const MOST = 50;

/** The field, which is cleared once a name was chosen. */
export function Picker({ id, options, placeholder, label, describedBy, invalid = false, free = false, pick }: PickerParts) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const sought = text.trim().toLowerCase();
  const fitting = open ? options.filter((name) => name.toLowerCase().includes(sought)).slice(0, MOST) : [];
  const index = Math.min(chosen, Math.max(0, fitting.length - 1));
  const take = (name: string) => {
    setText("");
    setOpen(false);
    setChosen(0);
    if (name !== "") pick(name);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" && !open) setOpen(true);
    else if (event.key === "ArrowDown") setChosen((index + 1) % Math.max(1, fitting.length));
    else if (event.key === "ArrowUp" && open) setChosen((index + fitting.length - 1) % Math.max(1, fitting.length));
    else if (event.key === "Enter") take(fitting[index] ?? (free ? text.trim() : ""));
    else if (event.key === "Escape" && open) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="suggest-box">
      <input
        className="input" id={id} value={text} placeholder={placeholder} autoComplete="off" spellCheck={false} disabled={options.length === 0 && !free}
        role="combobox" aria-autocomplete="list" aria-expanded={fitting.length > 0} aria-controls={fitting.length > 0 ? `${id}-list` : undefined}
        aria-activedescendant={fitting.length > 0 ? `${id}-option-${index}` : undefined}
        aria-label={label} aria-describedby={describedBy} aria-invalid={invalid ? true : undefined}
        onChange={(event) => {
          setText(event.target.value);
          setOpen(true);
          setChosen(0);
        }}
        onClick={() => { setOpen(true); }}
        onKeyDown={key}
        onBlur={() => {
          setOpen(false);
          setText("");
        }}
      />
      <SuggestionList id={id} options={fitting.map((name) => ({ label: name }))} chosen={index} accept={({ label: name }) => { take(name); }} />
    </div>
  );
}
