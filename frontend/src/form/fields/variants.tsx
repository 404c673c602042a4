//! A value with several notations.

import { useState } from "react";
import { t } from "../../core/texts";
import { variantOf } from "../schema/fits";
import type { Variant } from "../schema/kinds";
import { Control, type ControlParts } from "./control";
import { Segments } from "./segments";

const NAMES: Readonly<Record<string, string>> = {
  string: /* text */ "form.variant-text",
  number: /* text */ "form.variant-number",
  boolean: /* text */ "form.variant-boolean",
  array: /* text */ "form.variant-list",
  object: /* text */ "form.variant-mapping",
  choice: /* text */ "form.variant-choice",
  yaml: /* text */ "form.variant-other",
};

interface VariantsParts extends ControlParts {
  readonly variants: readonly Variant[];
}

/**
 * The choice of notations, and the control of the chosen one. A new notation starts empty; undo restores the
 * former.
 */
export function VariantsField(parts: VariantsParts) {
  const { variants, bound, title } = parts;
  const [wanted, setWanted] = useState<Variant | null>(null);
  const present = bound.value === undefined && wanted ? wanted : variantOf(variants, bound.value);
  if (!present) return null;
  const choose = (index: number) => {
    setWanted(variants[index] ?? null);
    if (bound.value !== undefined) bound.set(undefined);
  };
  return (
    <div className="form-variants">
      <Segments label={t("form.way", { field: title })} options={variants.map(({ name }) => wordOf(name))} chosen={variants.indexOf(present)} disabled={bound.readOnly} choose={choose} />
      <Control {...parts} kind={present.kind} labelled />
    </div>
  );
}

function wordOf(name: string): string {
  const key = NAMES[name];
  return key ? t(key) : name;
}
