//! When a pipeline runs by itself.

import { useState } from "react";
import { t } from "../../core/texts";
import { useBound, useForm } from "../context";
import { shown } from "../draft";
import { AmountField } from "../fields/amount";
import { Field } from "../fields/field";
import { Segments } from "../fields/segments";
import { Fold } from "../fold";
import { valueAt } from "../../graph/edit";
import { isMapping } from "../path";

const WAYS = ["none", "cron", "every"] as const;

/** The part. */
export function SchedulePart() {
  const { document } = useForm();
  const title = t("form.schedule");
  const bound = useBound(["schedule"], title);
  const value = isMapping(bound.value) ? bound.value : null;
  const [wanted, setWanted] = useState<(typeof WAYS)[number]>("none");
  const way = value?.["cron"] !== undefined ? "cron" : value?.["every"] !== undefined ? "every" : wanted;
  const choose = (index: number) => {
    setWanted(WAYS[index] ?? "none");
    bound.seal();
    bound.set(undefined);
    bound.seal();
  };
  return (
    <Fold name="schedule" title={title} keys={["schedule"]} summary={shown(valueAt(document, ["schedule", "cron"]) ?? valueAt(document, ["schedule", "every"]))}>
      <Segments label={title} options={[t("form.schedule-none"), t("form.schedule-cron"), t("form.schedule-every")]} chosen={WAYS.indexOf(way)} disabled={bound.readOnly} choose={choose} />
      {way === "cron" ? <Field path={["schedule", "cron"]} kind={{ type: "text", long: false }} title={t("form.cron")} help={t("form.cron-help")} placeholder="0 6 * * *" required plain /> : null}
      {way === "every" ? <AmountField path={["schedule", "every"]} measure="span" title={t("form.every")} placeholder="12h" /> : null}
      {way === "none" ? null : <Field path={["schedule", "timezone"]} kind={{ type: "text", long: false }} title={t("form.timezone")} placeholder="UTC" plain />}
      <p className="field-help">{t("form.schedule-help")}</p>
    </Fold>
  );
}
