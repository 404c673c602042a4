//! A choice of one value, and booleans.

import { useEffect, useRef } from "react";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { shown } from "../draft";
import { same } from "../path";
import type { ControlParts } from "./control";

interface ChoiceParts extends ControlParts {
  readonly options: readonly Json[];
  /** The label of an option; by default the option itself. */
  readonly wordOf?: (option: Json) => string;
}

/** A select, whose first entry is the default, or nothing. */
export function ChoiceField({ bound, ties, title, labelled, usual, options, wordOf = shown }: ChoiceParts) {
  const { value } = bound;
  // A value outside of the options is shown, too: the document has it.
  const all = value === undefined || value === null || options.some((option) => same(option, value)) ? options : [...options, value];
  const index = all.findIndex((option) => same(option, value));
  const none = bound.mixed ? t("form.mixed") : usual === undefined || usual === null ? t("form.nothing-chosen") : t("form.default-is", { value: wordOf(usual) });
  return (
    <select
      className="input" id={ties.id} value={index < 0 ? "" : String(index)} disabled={bound.readOnly}
      aria-label={labelled ? title : undefined} aria-describedby={ties.describedBy} aria-invalid={ties.invalid ? true : undefined}
      onBlur={bound.seal}
      onChange={(event) => { bound.set(event.target.value === "" ? undefined : all[Number(event.target.value)]); }}
    >
      <option value="">{none}</option>
      {all.map((option, at) => <option key={at} value={String(at)}>{wordOf(option)}</option>)}
    </select>
  );
}

/** A checkbox if the default is known, else a select of yes and no. */
export function BooleanField(parts: ControlParts) {
  const { bound, ties, title, labelled, usual } = parts;
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => { if (box.current) box.current.indeterminate = bound.mixed; }, [bound.mixed]);
  if (typeof usual !== "boolean") {
    return <ChoiceField {...parts} options={[true, false]} wordOf={(option) => (option === true ? t("form.yes") : t("form.no"))} />;
  }
  const checked = bound.value === undefined ? usual : bound.value === true;
  return (
    <span className="check">
      <input
        ref={box} type="checkbox" id={ties.id} checked={checked} disabled={bound.readOnly} onBlur={bound.seal}
        aria-label={labelled ? title : undefined} aria-describedby={ties.describedBy} aria-invalid={ties.invalid ? true : undefined}
        onChange={(event) => { bound.set(event.target.checked); }}
      />
      <span aria-hidden="true" className="small muted">{checked ? t("form.yes") : t("form.no")}</span>
    </span>
  );
}
