//! The schedule of a pipeline.

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

const WAYS = ["none", "cron", "every", "after", "file"] as const;

/** The most significant field of each kind. */
const SUMMARY = [["cron"], ["every"], ["after", "pipeline"], ["file", "path"]];

export function SchedulePart() {
  const { document } = useForm();
  const title = t("form.schedule");
  const bound = useBound(["schedule"], title);
  const value = isMapping(bound.value) ? bound.value : null;
  const [wanted, setWanted] = useState<(typeof WAYS)[number]>("none");
  const way = WAYS.find((one) => value?.[one] !== undefined) ?? wanted;
  const choose = (index: number) => {
    setWanted(WAYS[index] ?? "none");
    bound.seal();
    bound.set(undefined);
    bound.seal();
  };
  return (
    <Fold name="schedule" title={title} keys={["schedule"]} summary={shown(SUMMARY.map((path) => valueAt(document, ["schedule", ...path])).find((one) => one !== undefined))}>
      <Segments label={title} options={[t("form.schedule-none"), t("form.schedule-cron"), t("form.schedule-every"), t("form.schedule-after"), t("form.schedule-file")]} chosen={WAYS.indexOf(way)} disabled={bound.readOnly} choose={choose} />
      {way === "cron" ? <Field path={["schedule", "cron"]} kind={{ type: "text", long: false }} title={t("form.cron")} help={t("form.cron-help")} placeholder="0 6 * * *" required plain /> : null}
      {way === "every" ? <AmountField path={["schedule", "every"]} measure="span" title={t("form.every")} placeholder="12h" /> : null}
      {way === "after" ? <AfterFields /> : null}
      {way === "file" ? <FileFields /> : null}
      {way === "none" ? null : <Rest />}
      <p className="field-help">{t("form.schedule-help")}</p>
    </Fold>
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

/** Fields of every schedule. */
function Rest() {
  const text = { type: "text", long: false } as const;
  const yes = { type: "boolean" } as const;
  return (
    <>
      <Field path={["schedule", "timezone"]} kind={text} title={t("form.timezone")} placeholder="UTC" plain />
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
