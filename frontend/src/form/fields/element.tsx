//! One item of a list, or one value of a mapping: a control with an accessible name, without a visible label.

import type { ClipboardEvent, KeyboardEvent } from "react";
import type { Json } from "../../graph/document";
import { wrongWith } from "../check";
import { useBound, useForm, type Bound } from "../context";
import { readNumber, readScalar, shown, useDraft } from "../draft";
import type { Path } from "../../graph/edit";
import { problemsAt } from "../by-place";
import { fits } from "../schema/fits";
import type { Kind } from "../schema/kinds";
import { Control } from "./control";
import { Wrong } from "./frame";
import { TextField } from "./text";

interface ElementParts {
  readonly id: string;
  readonly path: Path;
  readonly kind: Kind;
  readonly title: string;
  readonly placeholder: string;
  readonly plain: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly onPaste?: (event: ClipboardEvent) => void;
}

/** Whether an item is one line of text. */
export function isLine(kind: Kind): boolean {
  return ["text", "scalar", "number", "file"].includes(kind.type);
}

const READ: Partial<Record<Kind["type"], (text: string) => Json>> = {
  scalar: readScalar,
  number: (text) => readNumber(text) ?? "",
};

/** The item. Empty text stays an item: only its button removes it. */
export function Element(parts: ElementParts) {
  const { id, path, title, plain } = parts;
  const { problems } = useForm();
  const bound = useBound(path, title);
  const kind: Kind = fits(parts.kind, bound.value) || parts.kind.type === "number" ? parts.kind : { type: "yaml" };
  const own = wrongWith(kind, bound.value === "" ? undefined : bound.value);
  const found = own ? [] : problemsAt(problems, bound.pointer, true);
  const ties = { id, describedBy: own || found.length > 0 ? `${id}-wrong` : undefined, invalid: Boolean(own) || found.length > 0 };
  return (
    <div className="rows-value" data-pointer={bound.pointer}>
      {isLine(kind)
        ? <Line {...parts} bound={bound} read={READ[kind.type] ?? ((text) => text)} {...ties} />
        : <Control path={path} kind={kind} bound={bound} ties={ties} title={title} labelled placeholder={parts.placeholder} plain={plain} />}
      <Wrong id={`${id}-wrong`} own={own} problems={found} />
    </div>
  );
}

interface LineParts extends ElementParts {
  readonly bound: Bound;
  readonly read: (text: string) => Json;
  readonly describedBy: string | undefined;
  readonly invalid: boolean;
}

function Line({ id, path, title, placeholder, plain, onKeyDown, onPaste, bound, read, describedBy, invalid }: LineParts) {
  const draft = useDraft(bound, read, shown);
  return (
    <TextField
      id={id} text={draft.text} onText={draft.change} onLeave={draft.leave} label={title} describedBy={describedBy} invalid={invalid}
      readOnly={bound.readOnly} placeholder={placeholder} path={plain ? undefined : path}
      {...(onKeyDown ? { onKeyDown } : {})} {...(onPaste ? { onPaste } : {})}
    />
  );
}
