//! The fields of a pipeline's schedule, loaded when they are first shown.

import { useState } from "react";
import { t } from "../../core/texts";
import type { Json, JsonObject, PipelineDocument } from "../../graph/document";
import { FormContext, useBound, useForm } from "../context";
import { shown } from "../draft";
import { AmountField } from "../fields/amount";
import { Field } from "../fields/field";
import { valueAt } from "../../graph/edit";
import { isMapping } from "../path";
import { writeAt } from "../write";
import { browserZone, UTC } from "../zones";
import { CronField } from "./cron";
import { NextDates } from "./next-dates";
import { ScheduleKinds, WAYS, type Way } from "./schedule-kinds";
import { ZoneField } from "./zone";

const ZONE = ["schedule", "timezone"];

export function ScheduleFields() {
  const form = useForm();
  const bound = useBound(["schedule"], t("form.schedule"));
  const value = isMapping(bound.value) ? bound.value : null;
  const [wanted, setWanted] = useState<Way>("none");
  const [kept, setKept] = useState<Partial<Record<Way, Json>>>({});
  const [zone, setZone] = useState(browserZone);
  const way = WAYS.find((one) => value?.[one] !== undefined) ?? wanted;
  const choose = (to: Way) => {
    // The kind that is left can be chosen again as it was; the next one has its zone.
    if (value) setKept({ ...kept, [way]: value });
    if (value) setZone(shown(value["timezone"]) || UTC);
    setWanted(to);
    bound.seal();
    bound.set(kept[to]);
    bound.seal();
  };
  const complete = (before: PipelineDocument, after: PipelineDocument) => {
    const isNew = valueAt(before, ["schedule"]) === undefined && valueAt(after, ["schedule"]) !== undefined;
    return isNew && zone !== UTC && valueAt(after, ZONE) === undefined ? writeAt(after, [], ZONE, zone) : after;
  };
  return (
    <>
      <ScheduleKinds chosen={way} disabled={bound.readOnly} choose={choose} />
      <FormContext value={{ ...form, complete }}>
        {way === "cron" ? <CronField /> : null}
        {way === "every" ? <AmountField path={["schedule", "every"]} measure="span" title={t("form.every")} placeholder="12h" /> : null}
        {way === "after" ? <AfterFields /> : null}
        {way === "file" ? <FileFields /> : null}
        {way === "none" ? null : <Rest value={value} zone={value ? UTC : zone} />}
      </FormContext>
      <p className="field-help">{t("form.schedule-help")}</p>
    </>
  );
}

/** Triggered by the end of another pipeline's runs. */
function AfterFields() {
  const text = { type: "text", long: false } as const;
  return (
    <>
      <Field path={["schedule", "after", "pipeline"]} kind={text} title={t("form.after-pipeline")} help={t("form.after-pipeline-help")} required plain />
      <Field path={["schedule", "after", "project"]} kind={text} title={t("form.after-project")} help={t("form.after-project-help")} plain />
      <Field path={["schedule", "after", "state"]} kind={{ type: "choice", options: ["succeeded", "failed", "ended"] }} title={t("form.after-state")} usual="succeeded" plain />
    </>
  );
}

/** Triggered by the arrival of a file. */
function FileFields() {
  const text = { type: "text", long: false } as const;
  return (
    <>
      <Field path={["schedule", "file", "path"]} kind={text} title={t("form.file-path")} help={t("form.file-path-help")} placeholder="logs/dt=%Y-%m-%d/_SUCCESS" required plain />
      <Field path={["schedule", "file", "volume"]} kind={text} title={t("form.file-volume")} placeholder="workspace" plain />
      <AmountField path={["schedule", "file", "every"]} measure="span" title={t("form.file-every")} placeholder="1m" />
    </>
  );
}

/** Fields of every schedule. `zone` is the one while the document names none. */
function Rest({ value, zone }: { value: JsonObject | null; zone: string }) {
  const text = { type: "text", long: false } as const;
  const yes = { type: "boolean" } as const;
  const hasDates = value?.["cron"] !== undefined || value?.["every"] !== undefined;
  return (
    <>
      <ZoneField usual={zone} />
      {value && hasDates ? <NextDates schedule={value} /> : null}
      <Field path={["schedule", "start"]} kind={text} title={t("form.schedule-start")} placeholder="2026-01-31" plain />
      <Field path={["schedule", "end"]} kind={text} title={t("form.schedule-end")} placeholder="2026-12-31" plain />
      <Field path={["schedule", "catch_up"]} kind={{ type: "choice", options: ["none", "latest", "all"] }} title={t("form.catch-up")} help={t("form.catch-up-help")} usual="latest" plain />
      <Field path={["schedule", "depends_on_past"]} kind={yes} title={t("form.depends-on-past")} help={t("form.depends-on-past-help")} usual={false} plain />
      <Field path={["schedule", "skip_if_running"]} kind={yes} title={t("form.skip-if-running")} usual={false} plain />
      <AmountField path={["schedule", "late_after"]} measure="span" title={t("form.late-after")} placeholder="2h" />
      <AmountField path={["schedule", "jitter"]} measure="span" title={t("form.jitter")} placeholder="5m" />
      <Field path={["schedule", "paused"]} kind={yes} title={t("form.schedule-paused")} usual={false} plain />
    </>
  );
}
