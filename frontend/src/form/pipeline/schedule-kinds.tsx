//! The choice of a schedule's kind.

import { useId } from "react";
import { t } from "../../core/texts";

/** The kinds, by their keys in a document; `none` has no key. */
export const WAYS = ["none", "cron", "every", "after", "file"] as const;
export type Way = (typeof WAYS)[number];

interface KindsParts {
  readonly chosen: Way;
  readonly disabled: boolean;
  readonly choose: (way: Way) => void;
}

/** The kinds, each with what it does. */
export function ScheduleKinds({ chosen, disabled, choose }: KindsParts) {
  const id = useId();
  const words: Readonly<Record<Way, readonly [name: string, what: string]>> = {
    none: [t("form.schedule-none"), t("form.schedule-none-help")],
    cron: [t("form.schedule-cron"), t("form.schedule-cron-help")],
    every: [t("form.schedule-every"), t("form.schedule-every-help")],
    after: [t("form.schedule-after"), t("form.schedule-after-help")],
    file: [t("form.schedule-file"), t("form.schedule-file-help")],
  };
  return (
    <fieldset className="schedule-kinds" disabled={disabled}>
      <legend className="visually-hidden">{t("form.schedule")}</legend>
      {WAYS.map((way) => (
        <div key={way} className="check">
          <input type="radio" name={id} id={`${id}-${way}`} checked={way === chosen} aria-describedby={`${id}-${way}-help`} onChange={() => { if (way !== chosen) choose(way); }} />
          <label htmlFor={`${id}-${way}`}>
            {words[way][0]}
            <span className="field-help" id={`${id}-${way}-help`} aria-hidden="true">{words[way][1]}</span>
          </label>
        </div>
      ))}
    </fieldset>
  );
}
