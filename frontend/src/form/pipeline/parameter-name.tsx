//! A parameter's name. It is applied on blur or Enter.

import { useId, useState } from "react";
import { t } from "../../core/texts";
import type { JsonObject } from "../../graph/document";
import { isVariable } from "../names";

interface NameParts {
  readonly name: string;
  readonly taken: JsonObject;
  readonly readOnly: boolean;
  readonly rename: (name: string) => void;
}

export function ParameterName({ name, taken, readOnly, rename }: NameParts) {
  const id = useId();
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? name;
  const wrong = text === name ? null : Object.hasOwn(taken, text) ? t("form.name-taken", { name: text }) : isVariable(text) ? null : t("form.not-a-variable");
  const finish = () => {
    if (wrong !== null) return;
    setDraft(null);
    if (text !== name) rename(text);
  };
  return (
    <div className="rows-key">
      <input
        className="input mono" value={text} readOnly={readOnly} autoComplete="off" spellCheck={false} aria-label={t("form.parameter-name", { name })}
        aria-invalid={wrong ? true : undefined} aria-describedby={wrong ? id : undefined}
        onChange={(event) => { setDraft(event.target.value); }} onBlur={finish} onKeyDown={(event) => { if (event.key === "Enter") finish(); }}
      />
      {wrong ? <p className="field-error" id={id}>{wrong}</p> : null}
    </div>
  );
}
