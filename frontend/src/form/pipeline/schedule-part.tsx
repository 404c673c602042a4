//! The section of a pipeline's schedule. Its fields and the words of cron expressions are loaded when they are needed.

import { lazy, Suspense } from "react";
import { moreTexts, t } from "../../core/texts";
import { valueAt } from "../../graph/edit";
import { useForm } from "../context";
import { shown } from "../draft";
import { Fold } from "../fold";

const ScheduleFields = lazy(async () => {
  const [{ ScheduleFields: fields }] = await Promise.all([import("./schedule"), moreTexts("cron")]);
  return { default: fields };
});
const CronSummary = lazy(async () => {
  const [{ CronSummary: summary }] = await Promise.all([import("./cron"), moreTexts("cron")]);
  return { default: summary };
});

/** The most significant field of each kind besides cron. */
const SUMMARY = [["every"], ["after", "pipeline"], ["file", "path"]];

export function SchedulePart() {
  const { document } = useForm();
  const cron = valueAt(document, ["schedule", "cron"]);
  const other = SUMMARY.map((path) => valueAt(document, ["schedule", ...path])).find((one) => one !== undefined);
  const summary = cron === undefined ? shown(other) : <Suspense fallback={shown(cron)}><CronSummary cron={cron} /></Suspense>;
  return (
    <Fold name="schedule" title={t("form.schedule")} keys={["schedule"]} summary={summary}>
      <Suspense fallback={<p className="ed-panel-note"><span className="spinner" /></p>}><ScheduleFields /></Suspense>
    </Fold>
  );
}
