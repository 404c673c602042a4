//! Any value, as YAML. Invalid YAML stays in the field with the reason, and the document keeps the last valid
//! value.

import { useEffect, useId, useState } from "react";
import { t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { same } from "../path";
import type { ControlParts } from "./control";

type Yaml = typeof import("yaml");

/** The value as text; the YAML library is loaded with the first such field. */
export function YamlField({ bound, ties, title, labelled, placeholder }: ControlParts) {
  const id = useId();
  const [yaml, setYaml] = useState<Yaml | null>(null);
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => { void import("yaml").then(setYaml); }, []);
  const read = draft === null || !yaml ? null : parse(yaml, draft);
  // An invalid text is kept; a valid one only as long as it still means the document's value.
  const text = draft !== null && read && (!read.fine || same(read.value, bound.value)) ? draft : write(yaml, bound.value);
  const wrong = read && !read.fine && text === draft ? read.reason : null;
  return (
    <>
      <textarea
        className="input mono" id={ties.id} value={text} rows={Math.min(14, Math.max(2, text.split("\n").length))} spellCheck={false} placeholder={placeholder}
        readOnly={bound.readOnly || !yaml} aria-label={labelled ? title : undefined}
        aria-describedby={[ties.describedBy, wrong ? id : ""].filter(Boolean).join(" ") || undefined} aria-invalid={ties.invalid || wrong ? true : undefined}
        onChange={(event) => {
          setDraft(event.target.value);
          const now = yaml && parse(yaml, event.target.value);
          if (now?.fine) bound.set(now.value);
        }}
        onBlur={() => {
          if (!wrong) setDraft(null);
          bound.seal();
        }}
      />
      {wrong ? <p className="field-error" id={id}>{t("form.not-yaml", { reason: wrong })}</p> : null}
    </>
  );
}

type Read = { fine: true; value: Json | undefined } | { fine: false; reason: string };

function parse(yaml: Yaml, text: string): Read {
  if (text.trim() === "") return { fine: true, value: undefined };
  try {
    return { fine: true, value: yaml.parse(text) as Json };
  } catch (error) {
    return { fine: false, reason: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
}

function write(yaml: Yaml | null, value: Json | undefined): string {
  if (value === undefined) return "";
  return yaml ? yaml.stringify(value, { lineWidth: 0 }).trimEnd() : JSON.stringify(value, null, 2);
}
