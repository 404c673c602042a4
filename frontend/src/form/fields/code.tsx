//! A program in the form: plain text here, a code editor in a large dialog.

import { t } from "../../core/texts";
import { readText, shown, useDraft } from "../draft";
import { Icon } from "../../editor/icon";
import type { ControlParts } from "./control";

/** The lines, and a button that opens the dialog. */
export function CodeField({ bound, ties, title, labelled, placeholder }: ControlParts) {
  const draft = useDraft(bound, readText, shown);
  const lines = draft.text.split("\n").length;
  const open = async () => {
    const { openCode } = await import("./code-dialog");
    openCode({ title, text: shown(bound.value), readOnly: bound.readOnly, change: (text) => { bound.set(readText(text)); }, close: bound.seal });
  };
  return (
    <div className="form-code">
      <textarea
        className="input mono" id={ties.id} value={draft.text} rows={Math.min(12, Math.max(4, lines))} placeholder={placeholder} spellCheck={false}
        readOnly={bound.readOnly} wrap="off" aria-label={labelled ? title : undefined} aria-describedby={ties.describedBy} aria-invalid={ties.invalid ? true : undefined}
        onChange={(event) => { draft.change(event.target.value); }} onBlur={draft.leave}
      />
      <button type="button" className="button small" onClick={() => void open()}><Icon name="fit" />{t("form.open-large")}<span className="visually-hidden">: {title}</span></button>
    </div>
  );
}
