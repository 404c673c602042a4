//! The head of a task's form: its name, template, description, and problems.

import { useId } from "react";
import { t } from "../../core/texts";
import type { Task } from "../../graph/document";
import { basePointer, useForm } from "../context";
import { Field } from "../fields/field";
import { Wrong } from "../fields/frame";
import { Prose } from "../fields/prose";
import { problemsAt } from "../by-place";
import { NameField } from "./name";
import { TemplateField } from "./template";
import { local } from "../../api/knowledge";

export function TaskHead({ task }: { task: Task }) {
  const form = useForm();
  const id = useId();
  // Problems of a field are shown there.
  const own = problemsAt(form.problems, basePointer(form), false);
  const { template } = form;
  const help = template && local(template.help).split("\n\n")[0];
  return (
    <header className="form-head">
      <NameField task={task} />
      <TemplateField task={task} />
      {help ? <p className="field-help"><Prose text={help} /></p> : null}
      <Field path={["description"]} kind={{ type: "text", long: false }} title={t("form.description")} plain />
      <Wrong id={`${id}-wrong`} own={null} problems={own} />
    </header>
  );
}
