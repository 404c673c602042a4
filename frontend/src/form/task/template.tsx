//! The template of a task. Changing it keeps the arguments that fit, and reports the others.

import { useId, useState } from "react";
import { language, t } from "../../core/texts";
import { setPath } from "../../graph/edit";
import type { JsonObject, Task } from "../../graph/document";
import { basePointer, useForm } from "../context";
import { Frame } from "../fields/frame";
import type { TemplateInfo, Templates } from "../../editor/templates";
import { carryOver } from "../schema/fits";
import { fieldsOf } from "../schema/read";
import { schemaOf } from "../schema/of-template";
import { local } from "../../api/knowledge";
import { reference } from "./template-of";
import { UpdateTemplate } from "./update";

export function TemplateField({ task }: { task: Task }) {
  const id = useId();
  const form = useForm();
  const [left, setLeft] = useState<readonly string[]>([]);
  const { name, version } = reference(task.template);
  const template = form.templates.get(name);
  const choose = (next: string, wanted: string) => {
    const other = form.templates.get(next);
    const carried = carryOver(task.arguments ?? {}, other ? fieldsOf(schemaOf(other)) : []);
    const takesAll = !other || next === name;
    setLeft(takesAll ? [] : carried.left);
    form.store.apply(t("form.template-changed", { task: task.name }), (document) => {
      const made = setPath(document, task.name, ["template"], wanted ? `${next}@${wanted}` : next);
      return takesAll ? made : setPath(made, task.name, ["arguments"], orNothing(carried.kept));
    });
  };
  return (
    <Frame id={id} pointer={`${basePointer(form)}/template`} title={t("form.template")}>
      {(ties) => (
        <>
          <div className="form-beside form-template">
            <select className="input" id={ties.id} value={name} disabled={form.readOnly} aria-describedby={ties.describedBy} aria-invalid={ties.invalid ? true : undefined} onChange={(event) => { choose(event.target.value, ""); }}>
              {template ? null : <option value={name}>{name}</option>}
              <Options templates={form.templates} />
            </select>
            {template && (template.versions.length > 1 || version) ? (
              <select className="input form-version" value={version} disabled={form.readOnly} aria-label={t("form.version")} onChange={(event) => { choose(name, event.target.value); }}>
                <option value="">{t("form.newest", { version: template.version })}</option>
                {[...new Set([...template.versions, ...(version ? [version] : [])])].map((one) => <option key={one}>{one}</option>)}
              </select>
            ) : null}
          </div>
          {template ? <UpdateTemplate task={task} newest={template} /> : null}
          <div role="status">{left.length > 0 ? <p className="form-note">{t("form.arguments-left", { names: left.join(", ") })}</p> : null}</div>
        </>
      )}
    </Frame>
  );
}

function orNothing(kept: JsonObject): JsonObject | undefined {
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function Options({ templates }: { templates: Templates }) {
  const groups = new Map<string, TemplateInfo[]>();
  for (const template of templates.values()) groups.set(template.group, [...(groups.get(template.group) ?? []), template]);
  const inOrder = (all: readonly TemplateInfo[]) => all.toSorted((a, b) => local(a.label).localeCompare(local(b.label), language()));
  return [...groups].sort(([a], [b]) => a.localeCompare(b)).map(([group, all]) => (
    <optgroup key={group} label={group}>
      {inOrder(all).map((template) => <option key={template.name} value={template.name}>{local(template.label)} ({template.name})</option>)}
    </optgroup>
  ));
}
