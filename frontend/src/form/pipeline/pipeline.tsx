//! The form of the pipeline itself, shown while no task is selected.

import { useId } from "react";
import { t } from "../../core/texts";
import { useBound, useForm } from "../context";
import { readText, shown, useDraft } from "../draft";
import { Field } from "../fields/field";
import { Frame } from "../fields/frame";
import { TextField } from "../fields/text";
import { Fold } from "../fold";
import { isLabel } from "../names";
import { valueAt } from "../../graph/edit";
import { isMapping } from "../path";
import { PlacementPart } from "../task/placement";
import { ParametersField } from "./parameters";
import { SchedulePart } from "./schedule-part";

/** Every field of the pipeline, in sections. */
export function PipelineForm() {
  const { document } = useForm();
  const labels = valueAt(document, ["labels"]);
  const env = valueAt(document, ["env"]);
  const limits = [valueAt(document, ["parallelism"]), valueAt(document, ["max_active_runs"])].filter((one) => one !== undefined);
  return (
    <>
      <header className="form-head">
        <h2>{t("form.pipeline")}</h2>
        <p className="field-help">{t("form.pipeline-help")}</p>
        <NameField />
        <Field path={["description"]} kind={{ type: "text", long: true }} title={t("form.description")} plain />
      </header>
      <Fold name="parameters" title={t("form.parameters")} keys={["parameters"]} summary={Object.keys(document.parameters ?? {}).join(", ")} open>
        <ParametersField />
      </Fold>
      <Fold name="env" title={t("form.env")} keys={["env"]} summary={isMapping(env) ? Object.keys(env).join(", ") : ""}>
        <Field path={["env"]} kind={{ type: "map", value: { type: "text", long: false } }} title={t("form.env")} help={t("form.env-all-help")} inElements />
      </Fold>
      <SchedulePart />
      <Fold name="limits" title={t("form.limits")} keys={["parallelism", "max_active_runs"]} summary={limits.map((one) => shown(one)).join(" · ")}>
        <div className="form-row">
          <Field path={["parallelism"]} kind={{ type: "number", integer: true, minimum: 1 }} title={t("form.parallelism")} help={t("form.parallelism-help")} placeholder={t("form.no-limit")} plain />
          <Field path={["max_active_runs"]} kind={{ type: "number", integer: true, minimum: 1 }} title={t("form.active-runs")} help={t("form.active-runs-help")} placeholder={t("form.no-limit")} plain />
        </div>
      </Fold>
      <Fold name="labels" title={t("form.labels")} keys={["labels"]} summary={isMapping(labels) ? Object.keys(labels).join(", ") : ""}>
        <Field path={["labels"]} kind={{ type: "map", value: { type: "text", long: false } }} title={t("form.labels")} help={t("form.labels-help")} plain />
      </Fold>
      <PlacementPart name="placement-of-all" cluster />
    </>
  );
}

/** The name, which is fixed once the pipeline is stored, since its URL and its runs contain it. */
function NameField() {
  const id = useId();
  const { knowledge, document } = useForm();
  const title = t("form.pipeline-name");
  const bound = useBound(["name"], title);
  // A document always has a name, so an emptied field is empty text.
  const draft = useDraft(bound, (text) => readText(text) ?? "", shown);
  const wrong = isLabel(document.name) ? null : t("form.not-a-label");
  return (
    <Frame id={id} pointer={bound.pointer} title={title} wrong={wrong} help={knowledge.stored ? t("form.name-stays") : ""}>
      {(ties) => <TextField id={ties.id} text={draft.text} onText={draft.change} onLeave={draft.leave} describedBy={ties.describedBy} invalid={ties.invalid} readOnly={bound.readOnly || knowledge.stored} mono />}
    </Frame>
  );
}
