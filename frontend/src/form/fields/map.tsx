//! A mapping with custom keys, one per row. A key is applied on blur, so that it can be typed undisturbed.

import { useId, useState } from "react";
import { focused } from "../../core/dom";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { Icon } from "../../editor/icon";
import { isMapping } from "../path";
import type { Kind } from "../schema/kinds";
import type { ControlParts } from "./control";
import { Element } from "./element";
import { emptyOf } from "./list";
import { isFilled } from "./usual";

interface MapParts extends Omit<ControlParts, "kind"> {
  readonly kind: Kind;
}

export function MapField({ path, bound, ties, title, kind, usual, placeholder, plain }: MapParts) {
  const base = useId();
  const [adding, setAdding] = useState(false);
  const mapping = isMapping(bound.value) ? bound.value : {};
  const entries = Object.entries(mapping);
  const write = (next: readonly (readonly [string, Json])[]) => {
    bound.seal();
    bound.set(next.length > 0 || isFilled(usual) ? Object.fromEntries(next) : undefined);
    bound.seal();
  };
  const rename = (index: number, name: string) => { write(entries.map(([key, value], at) => [at === index ? name : key, value] as const)); };
  const taken = new Set(entries.map(([key]) => key));
  return (
    <div className="rows">
      <ul className="rows-list">
        {entries.map(([key], index) => (
          <li key={index} className="rows-row rows-pair">
            <KeyField id={`${base}-k${index}`} name={key} taken={taken} readOnly={bound.readOnly} label={t("form.name-of", { field: title, n: index + 1 })} done={(name) => { rename(index, name); }} />
            <Element id={`${base}-${index}`} path={[...path, key]} kind={kind} title={key} placeholder={placeholder} plain={plain ?? false} />
            {bound.readOnly ? null : (
              <button type="button" className="button quiet small icon-only" aria-label={t("form.remove-name", { name: key })} title={t("form.remove-name", { name: key })} onClick={() => { write(entries.toSpliced(index, 1)); }}><Icon name="close" /></button>
            )}
          </li>
        ))}
        {adding ? (
          <li className="rows-row rows-pair">
            <KeyField
              id={`${base}-new`} name="" taken={taken} readOnly={false} label={t("form.new-name", { field: title })} focus
              done={(name) => {
                setAdding(false);
                if (name) write([...entries, [name, emptyOf(kind)]]);
              }}
              leave={() => { setAdding(false); }}
            />
          </li>
        ) : null}
      </ul>
      {bound.readOnly || adding ? null : (
        <button type="button" className="button small" id={ties.id} aria-describedby={ties.describedBy} onClick={() => { setAdding(true); }}>
          <Icon name="plus" />{t("form.add-element")}<span className="visually-hidden">: {title}</span>
        </button>
      )}
    </div>
  );
}

interface KeyParts {
  readonly id: string;
  readonly name: string;
  readonly taken: ReadonlySet<string>;
  readonly readOnly: boolean;
  readonly label: string;
  readonly focus?: boolean;
  readonly done: (name: string) => void;
  readonly leave?: () => void;
}

function KeyField({ id, name, taken, readOnly, label, focus = false, done, leave }: KeyParts) {
  const [text, setText] = useState<string | null>(null);
  const written = (text ?? name).trim();
  const isTaken = written !== name && taken.has(written);
  const finish = () => {
    setText(null);
    if (written !== name && written !== "" && !isTaken) done(written);
    else leave?.();
  };
  return (
    <div className="rows-key">
      <input
        className="input mono" id={id} value={text ?? name} readOnly={readOnly} aria-label={label} ref={focus ? focused : undefined} autoComplete="off" spellCheck={false}
        placeholder={t("form.name")} aria-invalid={isTaken ? true : undefined} aria-describedby={isTaken ? `${id}-wrong` : undefined}
        onChange={(event) => { setText(event.target.value); }} onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
          if (event.key === "Escape") setText(null);
        }}
      />
      {isTaken ? <p className="field-error" id={`${id}-wrong`}>{t("form.name-taken", { name: written })}</p> : null}
    </div>
  );
}
