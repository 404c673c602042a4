//! The dropdown of suggestions under a field.

import { useEffect, useLayoutEffect, useRef } from "react";
import { t } from "../../core/texts";
import type { Suggestion } from "../suggest";

interface ListParts {
  readonly id: string;
  readonly options: readonly Suggestion[];
  readonly chosen: number;
  readonly accept: (suggestion: Suggestion) => void;
}

/** The options; nothing if there are none. The focus stays in the field. */
export function SuggestionList({ id, options, chosen, accept }: ListParts) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => { list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }); }, [chosen, options]);
  // It opens upwards if there is no space below.
  useLayoutEffect(() => {
    const box = list.current?.getBoundingClientRect();
    if (list.current && box) list.current.dataset["above"] = String(box.bottom > window.innerHeight && box.top > box.height + 60);
  }, [options.length > 0]);
  if (options.length === 0) return null;
  return (
    <ul className="suggest-list" role="listbox" id={`${id}-list`} aria-label={t("form.suggestions")} ref={list}>
      {options.map((option, index) => (
        <li
          key={option.label} id={`${id}-option-${index}`} role="option" aria-selected={index === chosen}
          onPointerDown={(event) => {
            event.preventDefault();
            accept(option);
          }}
        >
          <span className="mono">{option.label}</span>
          {option.detail ? <span className="faint">{option.detail}</span> : null}
        </li>
      ))}
    </ul>
  );
}
