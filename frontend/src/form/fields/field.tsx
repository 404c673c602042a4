//! A field of any kind: its frame, its control or an expression instead, and the reset to the default.

import { useId, useState } from "react";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { wrongWith } from "../check";
import { useBound } from "../context";
import { shown } from "../draft";
import { Icon } from "../../editor/icon";
import type { Path } from "../../graph/edit";
import { fits, isExpression } from "../schema/fits";
import type { Kind } from "../schema/kinds";
import { Control } from "./control";
import { ExpressionField } from "./expression";
import { Frame } from "./frame";

export interface FieldParts {
  readonly path: Path;
  readonly kind: Kind;
  readonly title: string;
  readonly help?: string;
  readonly required?: boolean;
  /** The default. */
  readonly usual?: Json | undefined;
  readonly placeholder?: string;
  /** Expressions are not allowed. */
  readonly plain?: boolean;
  /** Expressions are allowed in its items, but not in place of the whole list. */
  readonly inElements?: boolean;
  /** Its own error, in addition to the kind's. */
  readonly wrong?: string | null;
}

/** Kinds with a text control, which accepts expressions anyway. */
const TEXTUAL: readonly Kind["type"][] = ["text", "scalar", "number", "priority", "file", "code", "yaml"];
/** Kinds with more than one control. */
const COMPOSITE: readonly Kind["type"][] = ["list", "map", "object", "variants"];

/** The field. A value that its kind cannot show is edited as YAML, so that every value is editable. */
export function Field(parts: FieldParts) {
  const { path, title, help, required, usual, plain = false, inElements = false } = parts;
  const id = useId();
  // A list is written on any change, even if it equals its default.
  const bound = useBound(path, title, COMPOSITE.includes(parts.kind.type) ? undefined : usual);
  const [byExpression, setByExpression] = useState(false);
  const expression = !plain && !inElements && (byExpression || (isExpression(bound.value) && !TEXTUAL.includes(parts.kind.type)));
  const kind: Kind = fits(parts.kind, bound.value) || parts.kind.type === "number" ? parts.kind : { type: "yaml" };
  const composite = !expression && COMPOSITE.includes(kind.type);
  const toggle = () => {
    if (expression && bound.value !== undefined) bound.set(undefined);
    setByExpression(!expression);
  };
  const actions = bound.readOnly ? null : (
    <>
      {bound.value !== undefined && usual !== undefined && !required ? <Action icon="rerun" label={t("form.to-default", { field: title })} act={() => { setByExpression(false); bound.set(undefined); bound.seal(); }} /> : null}
      {plain || inElements || TEXTUAL.includes(kind.type) ? null : <button type="button" className="button quiet small braces" aria-pressed={expression} aria-label={t("form.as-expression", { field: title })} title={t("form.as-expression", { field: title })} onClick={toggle}>{"{{ }}"}</button>}
    </>
  );
  return (
    <Frame id={id} pointer={bound.pointer} title={title} help={help} required={required} group={composite} deep={!composite} wrong={parts.wrong ?? wrongWith(kind, bound.value)} actions={actions}>
      {(ties) => expression
        ? <ExpressionField path={path} bound={bound} ties={ties} />
        : <Control path={path} kind={kind} bound={bound} ties={ties} title={title} usual={usual} placeholder={hint(parts)} plain={plain} />}
    </Frame>
  );
}

// The placeholder of an empty field: its default, else an example.
function hint({ usual, placeholder = "" }: FieldParts): string {
  const text = shown(usual);
  return text === "" || text === "[]" || text === "{}" ? placeholder : text;
}

function Action({ icon, label, act }: { icon: string; label: string; act: () => void }) {
  return <button type="button" className="button quiet small icon-only" aria-label={label} title={label} onClick={act}><Icon name={icon} /></button>;
}
