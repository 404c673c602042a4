//! The resources of each worker, with the available capacity.

import { t } from "../../core/texts";
import { useForm } from "../context";
import { Field } from "../fields/field";
import { More } from "../fields/more";
import { Fold } from "../fold";
import { valueAt } from "../../graph/edit";
import { amountsInWords } from "../summary";
import { Amounts } from "./amounts";

/**
 * The section: the amounts of every worker, of single roles if there are several, and the range of elastic
 * workers.
 */
export function ResourcesPart() {
  const { tasks, template } = useForm();
  const [task] = tasks;
  const roles = template?.roles ?? [];
  const main = roles.at(-1)?.resources ?? {};
  const several = tasks.length === 1 && roles.length > 1;
  return (
    <Fold name="resources" title={t("form.resources")} keys={["resources", "role_resources", "elastic"]} summary={tasks.length === 1 ? amountsInWords(valueAt(task, ["resources"])) : ""}>
      <p className="field-help">{t("form.resources-help")}</p>
      <Amounts path={["resources"]} usual={main} />
      {several ? roles.map((role) => (
        <More key={role.name} label={t("form.role-own", { role: role.name })} open={valueAt(task, ["role_resources", role.name]) !== undefined}>
          <h4>{t("form.role", { role: role.name })}</h4>
          <Amounts path={["role_resources", role.name]} usual={{ ...role.resources, ...(valueAt(task, ["resources"]) as object | undefined) }} />
        </More>
      )) : null}
      <More label={t("form.elastic-more")} open={tasks.some((one) => one["elastic"] !== undefined)}>
        <h4>{t("form.elastic")}</h4>
        <p className="field-help">{t("form.elastic-help")}</p>
        <div className="form-row">
          <Field path={["elastic", "min"]} kind={{ type: "number", integer: true, minimum: 1 }} title={t("form.elastic-min")} plain />
          <Field path={["elastic", "max"]} kind={{ type: "number", integer: true, minimum: 1 }} title={t("form.elastic-max")} plain />
        </div>
      </More>
    </Fold>
  );
}
