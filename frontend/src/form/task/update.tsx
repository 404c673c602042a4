//! The update of a task with an older template version: the changes of the newest, and a button.

import { t } from "../../core/texts";
import type { Task } from "../../graph/document";
import { setPath } from "../../graph/edit";
import type { TemplateInfo } from "../../editor/templates";
import { useForm } from "../context";
import { isMapping } from "../path";
import { changeOf } from "../schema/change";
import { schemaOf } from "../schema/of-template";
import { fieldsOf } from "../schema/read";
import { reference } from "./template-of";

/** A collapsible line; nothing if the task has the newest version already. */
export function UpdateTemplate({ task, newest }: { task: Task; newest: TemplateInfo }) {
  const { template, readOnly, store } = useForm();
  const { name, version } = reference(task.template);
  if (version === "" || version === newest.version || !template) return null;
  const change = changeOf(fieldsOf(schemaOf(template)), fieldsOf(schemaOf(newest)), isMapping(task.arguments) ? task.arguments : {});
  const lines: [string, readonly string[]][] = [
    [t("form.update-added"), change.added],
    [t("form.update-removed"), change.removed],
    [t("form.update-changed"), change.changed],
    [t("form.update-refused"), change.refused],
    [t("form.update-missing"), change.missing],
  ];
  const told = lines.filter(([, names]) => names.length > 0);
  const update = () => {
    store.apply(t("form.updated", { task: task.name, version: newest.version }), (document) => setPath(document, task.name, ["template"], `${name}@${newest.version}`));
  };
  return (
    <details className="form-update">
      <summary>{t("form.update-to", { version: newest.version })}</summary>
      {told.length === 0 ? <p>{t("form.update-nothing")}</p> : (
        <dl>{told.map(([word, names]) => <div key={word}><dt>{word}</dt><dd className="mono">{names.join(", ")}</dd></div>)}</dl>
      )}
      {readOnly ? null : <button type="button" className="button small" onClick={update}>{t("form.update-do")}</button>}
    </details>
  );
}
