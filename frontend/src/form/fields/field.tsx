//! A field of any kind: its frame, its control or an expression instead of it, and the way back to the default.

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

/** What a field is made of. */
export interface FieldParts {
  readonly path: Path;
  readonly kind: Kind;
  readonly title: string;
  readonly help?: string;
  readonly required?: boolean;
  /** What counts when nothing is written. */
  readonly usual?: Json | undefined;
  readonly placeholder?: string;
  /** No expression may stand here. */
  readonly plain?: boolean;
  /** Expressions may stand in its elements, and not in place of all of them. */
  readonly inElements?: boolean;
  /** What it finds wrong beside what its kind does. */
  readonly wrong?: string | null;
}

/** Kinds whose control is text, in which an expression can be written anyway. */
const TEXTUAL: readonly Kind["type"][] = ["text", "scalar", "number", "priority", "file", "code", "yaml"];
/** Kinds with more than one control. */
const COMPOSITE: readonly Kind["type"][] = ["list", "map", "object", "variants"];

/** The field. A value that its kind cannot show is edited as YAML, so that nothing is out of reach. */
export function Field(parts: FieldParts) {
  const { path, title, help, required, usual, plain = false, inElements = false } = parts;
  const id = useId();
  // A list is written while it is changed, even when it happens to equal its default.
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

// An empty field shows what counts: its default, else an example.
function hint({ usual, placeholder = "" }: FieldParts): string {
  const text = shown(usual);
  return text === "" || text === "[]" || text === "{}" ? placeholder : text;
}

function Action({ icon, label, act }: { icon: string; label: string; act: () => void }) {
  return <button type="button" className="button quiet small icon-only" aria-label={label} title={label} onClick={act}><Icon name={icon} /></button>;
}
