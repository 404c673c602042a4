//! The form of several selected tasks: their common fields. A change applies to all of them.

import { t } from "../../core/texts";
import { useForm } from "../context";
import { ArgumentsPart } from "./arguments";
import { FailurePart } from "./failure";
import { PlacementPart } from "./placement";
import { ResourcesPart } from "./resources";

/** The sections for several tasks. Arguments are included if all tasks have the same template. */
export function ManyForm() {
  const { tasks } = useForm();
  const templates = new Set(tasks.map((task) => task.template));
  return (
    <>
      <header className="form-head">
        <h2>{t("form.many", { n: tasks.length })}</h2>
        <p className="muted small clip">{tasks.map((task) => task.name).join(", ")}</p>
        <p className="field-help">{t("form.many-help")}</p>
      </header>
      {templates.size === 1 ? <ArgumentsPart /> : null}
      <ResourcesPart />
      <FailurePart />
      <PlacementPart name="placement" />
    </>
  );
}
