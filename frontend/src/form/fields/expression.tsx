//! An expression in place of a value that is not text.

import type { Path } from "../../graph/edit";
import type { Bound } from "../context";
import { readText, shown, useDraft } from "../draft";
import { isExpression } from "../schema/fits";
import type { Ties } from "./frame";
import { TextField } from "./text";

/** The field; it starts empty if the value is not an expression yet. */
export function ExpressionField({ path, bound, ties }: { path: Path; bound: Bound; ties: Ties }) {
  const draft = useDraft(bound, readText, (value) => (isExpression(value) ? shown(value) : ""));
  return (
    <TextField
      id={ties.id} text={draft.text} onText={draft.change} onLeave={draft.leave} describedBy={ties.describedBy}
      invalid={ties.invalid} readOnly={bound.readOnly} path={path} mono placeholder={"{{ params.… }}"}
    />
  );
}
