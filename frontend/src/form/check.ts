//! Immediate checks of a field, before the server's: bounds of numbers, and malformed amounts.

import { t } from "../core/texts";
import type { Json } from "../graph/document";
import { shown } from "./draft";
import { amount, type Measure } from "./quantity";
import { isExpression } from "./schema/fits";
import type { Kind } from "./schema/kinds";

/** The error of a value of a kind; null if it is valid. */
export function wrongWith(kind: Kind, value: Json | undefined): string | null {
  if (kind.type === "priority") return typeof value === "number" ? wrongWith({ type: "number", integer: true, minimum: -1000, maximum: 1000 }, value) : null;
  if (kind.type !== "number" || value === undefined || value === null || isExpression(value)) return null;
  if (typeof value !== "number") return t("form.not-a-number");
  if (kind.integer && !Number.isInteger(value)) return t("form.not-whole");
  if (kind.minimum !== undefined && value < kind.minimum) return t("form.too-small", { n: kind.minimum });
  if (kind.maximum !== undefined && value > kind.maximum) return t("form.too-large", { n: kind.maximum });
  return null;
}

const FORMS: Readonly<Record<Measure, string>> = {
  cpu: /* text */ "form.not-cpu",
  bytes: /* text */ "form.not-bytes",
  span: /* text */ "form.not-span",
};

/** The error of an amount; null if it is valid. */
export function wrongAmount(measure: Measure, value: Json | undefined): string | null {
  if (value === undefined || value === null || isExpression(value)) return null;
  return amount(measure, shown(value)) === null ? t(FORMS[measure]) : null;
}
