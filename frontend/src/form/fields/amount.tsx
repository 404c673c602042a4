//! An amount of CPU, memory or time, with the available maximum.

import { useId } from "react";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { wrongAmount } from "../check";
import { useBound } from "../context";
import { shown, useDraft } from "../draft";
import type { Path } from "../../graph/edit";
import type { Measure } from "../quantity";
import { Frame } from "./frame";
import { TextField } from "./text";

interface AmountParts {
  readonly path: Path;
  readonly measure: Measure;
  readonly title: string;
  readonly help?: string;
  readonly placeholder?: string;
  /** Why a well-formed amount is too large; null if it is not. */
  readonly tooMuch?: string | null;
}

/** The field. A malformed amount is reported while typing, and kept. */
export function AmountField({ path, measure, title, help, placeholder = "", tooMuch = null }: AmountParts) {
  const id = useId();
  const bound = useBound(path, title);
  const draft = useDraft(bound, readAmount, shown);
  return (
    <Frame id={id} pointer={bound.pointer} title={title} help={help} wrong={wrongAmount(measure, bound.value) ?? tooMuch}>
      {(ties) => (
        <TextField
          id={ties.id} text={draft.text} onText={draft.change} onLeave={draft.leave} describedBy={ties.describedBy} invalid={ties.invalid} readOnly={bound.readOnly}
          placeholder={bound.mixed ? t("form.mixed") : placeholder}
        />
      )}
    </Frame>
  );
}

// `2` is a number in the document, as usual; `500m` is text.
function readAmount(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return String(Number(trimmed)) === trimmed ? Number(trimmed) : trimmed;
}
