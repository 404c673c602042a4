//! A list with a search field: arrows move, Enter selects.

import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { textOf } from "../../components/finder/held";
import { ranked } from "../../components/finder/rank";
import { focused } from "../../core/dom";
import { t } from "../../core/texts";
import { Icon } from "../../editor/icon";

/** One list entry. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly detail?: string | undefined;
  readonly icon?: string | undefined;
  readonly keys?: readonly string[] | undefined;
  /** Why it is disabled; null if it is enabled. */
  readonly refusal?: string | null;
  /** Search terms besides the label. */
  readonly words?: string;
}

interface PickerParts {
  readonly label: string;
  readonly choices: readonly Choice[];
  /** Keys pressed before the field was rendered. */
  readonly held: readonly string[];
  /** Called with the selected entry. */
  readonly onTake: (choice: Choice) => void;
}

export function Picker({ label, choices, held, onTake }: PickerParts) {
  const [typed, setTyped] = useState(() => textOf(held));
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const shown = ranked(choices, typed);
  const go = (to: number) => {
    const next = (to + shown.length) % Math.max(1, shown.length);
    setAt(next);
    list.current?.children[next]?.scrollIntoView({ block: "nearest" });
  };
  const take = (choice: Choice | undefined) => { if (choice && !choice.refusal) onTake(choice); };
  useEffect(() => { if (held.includes("Enter")) take(shown[at]); }, []);
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") go(at + 1);
    else if (event.key === "ArrowUp") go(at - 1);
    else if (event.key === "Enter") take(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        className="input pick-field"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={shown[at] ? `${id}-${at}` : undefined}
        placeholder={label}
        ref={focused}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onKeyDown={key}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul className="pick" id={id} role="listbox" aria-label={label} ref={list}>
        {shown.map((choice, index) => (
          <Line key={choice.id} id={`${id}-${index}`} choice={choice} chosen={index === at} onTake={() => { take(choice); }} onAim={() => { setAt(index); }} />
        ))}
      </ul>
      {shown.length === 0 ? <p className="pick-none">{t("canvas.nothing-found")}</p> : null}
    </>
  );
}

function Line({ id, choice, chosen, onTake, onAim }: { id: string; choice: Choice; chosen: boolean; onTake: () => void; onAim: () => void }) {
  const { label, detail, icon, keys, refusal } = choice;
  return (
    <li id={id} className="pick-line" role="option" aria-selected={chosen} aria-disabled={Boolean(refusal)} onClick={onTake} onPointerMove={onAim}>
      {icon === undefined ? null : <Icon name={icon} />}
      <span className="pick-words">
        <span>{label}</span>
        {(refusal ?? detail) ? <span className="pick-detail">{refusal ?? detail}</span> : null}
      </span>
      {keys ? <span className="keys">{keys.map((key) => <kbd key={key}>{key}</kbd>)}</span> : null}
    </li>
  );
}
