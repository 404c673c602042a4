//! The environment of a task's programs: variables, secrets, volumes, and the setup.

import { t } from "../../core/texts";
import { useForm } from "../context";
import { Field } from "../fields/field";
import { Fold } from "../fold";
import { valueAt } from "../../graph/edit";
import { environmentInWords } from "../summary";
import { SecretsField } from "./secrets";
import { VolumesField } from "./volumes";

export function EnvironmentPart() {
  const { tasks } = useForm();
  const [task] = tasks;
  const summary = environmentInWords(valueAt(task, ["env"]), valueAt(task, ["secrets"]), valueAt(task, ["volumes"]), valueAt(task, ["setup"]));
  return (
    <Fold name="environment" title={t("form.environment")} keys={["env", "secrets", "volumes", "setup"]} summary={summary}>
      <Field path={["env"]} kind={{ type: "map", value: { type: "text", long: false } }} title={t("form.env")} help={t("form.env-help")} inElements />
      <SecretsField />
      <VolumesField />
      <Field path={["setup"]} kind={{ type: "list", item: { type: "text", long: false }, placeholder: "" }} title={t("form.setup")} help={t("form.setup-help")} plain />
    </Fold>
  );
}
