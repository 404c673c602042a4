//! A cron expression, with its meaning in words below it.

import { useId } from "react";
import { cronFault, cronWords, type Tongue } from "../../core/cron-words";
import { language, t } from "../../core/texts";
import type { Json } from "../../graph/document";
import { useBound } from "../context";
import { readText, shown, useDraft } from "../draft";
import { Frame } from "../fields/frame";
import { TextField } from "../fields/text";

/** A schedule's expression in words; the expression itself if it is invalid. */
export function CronSummary({ cron }: { cron: Json }) {
  return <>{(typeof cron === "string" ? cronWords(cron, tongue()) : null) ?? shown(cron)}</>;
}

function tongue(): Tongue {
  return { t, language: language() };
}

/** The field. A wrong part of the expression is named while typing. */
export function CronField() {
  const id = useId();
  const title = t("form.cron");
  const bound = useBound(["schedule", "cron"], title);
  const draft = useDraft(bound, readText, shown);
  const text = typeof bound.value === "string" ? bound.value : "";
  const words = cronWords(text, tongue());
  return (
    <Frame id={id} pointer={bound.pointer} title={title} required help={words === null ? t("form.cron-help") : ""} wrong={text === "" ? null : cronFault(text, tongue())}>
      {(ties) => (
        <>
          <TextField
            id={ties.id} text={draft.text} onText={draft.change} onLeave={draft.leave} invalid={ties.invalid} readOnly={bound.readOnly} mono placeholder="0 6 * * *"
            describedBy={words === null ? ties.describedBy : `${id}-words ${ties.describedBy ?? ""}`.trim()}
          />
          {words === null ? null : <p className="cron-words" id={`${id}-words`}>{words}</p>}
        </>
      )}
    </Frame>
  );
}
