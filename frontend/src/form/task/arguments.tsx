//! A task's arguments, from its template's schema.

import { useMemo, useState } from "react";
import { t } from "../../core/texts";
import { useForm } from "../context";
import { Field } from "../fields/field";
import { Segments } from "../fields/segments";
import { Fold } from "../fold";
import { isMapping } from "../path";
import { choiceOf, foreign, wayOf, type Choice } from "../schema/choose";
import type { Field as Argument } from "../schema/kinds";
import { schemaOf } from "../schema/of-template";
import { fieldsOf } from "../schema/read";
import { useWays } from "./ways";

/** The section with the arguments. Those unknown to the template are edited as YAML below. */
export function ArgumentsPart() {
  const { tasks, template, loading } = useForm();
  const [task] = tasks;
  const fields = useMemo(() => (template ? fieldsOf(schemaOf(template)) : []), [template]);
  const choice = useMemo(() => (template ? choiceOf(schemaOf(template)) : null), [template]);
  if (!task) return null;
  const given = isMapping(task.arguments) ? task.arguments : {};
  const known = new Set(fields.map((field) => field.name));
  const unknown = loading ? [] : Object.keys(given).filter((name) => !known.has(name));
  return (
    <Fold name="arguments" title={t("form.arguments")} keys={["arguments"]} summary={Object.keys(given).join(", ")} open>
      {choice?.exactly ? <Chosen choice={choice} fields={fields} /> : <Groups fields={fields} />}
      {choice && !choice.exactly ? <p className="field-help">{t("form.at-least-one", { names: waysInWords(choice, fields) })}</p> : null}
      {unknown.map((name) => <Field key={name} path={["arguments", name]} kind={{ type: "yaml" }} title={name} help={template ? t("form.unknown-argument") : ""} />)}
      {fields.length === 0 && unknown.length === 0 ? <p className="muted small">{template ? t("form.no-arguments") : loading ? t("form.loading") : t("form.no-template")}</p> : null}
    </Fold>
  );
}

/** Alternative arguments: only those of the chosen alternative are shown, with a switch. */
function Chosen({ choice, fields }: { choice: Choice; fields: readonly Argument[] }) {
  const { tasks, readOnly } = useForm();
  const ways = useWays(choice);
  const [task] = tasks;
  const given = isMapping(task?.arguments) ? task.arguments : {};
  const taken = wayOf(choice, given);
  const [wanted, setWanted] = useState(0);
  const way = taken >= 0 ? taken : wanted;
  // Arguments of other alternatives are hidden, unless they are set: then they are an error that must be
  // visible.
  const hidden = new Set(foreign(choice, way).filter((name) => given[name] === undefined));
  const names = new Set(choice.ways.flat());
  const titles = choice.ways.map((one) => one.map((name) => fields.find((field) => field.name === name)?.title ?? name).join(" + "));
  const choose = (index: number) => {
    setWanted(index);
    ways(way, index);
  };
  return (
    <>
      <Segments label={t("form.one-of", { names: titles.join(", ") })} options={titles} chosen={way} disabled={readOnly} choose={choose} />
      <Groups fields={fields.filter((field) => !hidden.has(field.name)).map((field) => (names.has(field.name) ? { ...field, required: true } : field))} />
    </>
  );
}

function Groups({ fields }: { fields: readonly Argument[] }) {
  const groups = [...new Set(fields.map((field) => field.group))];
  return groups.map((group) => (
    <div key={group} className="form-group" role={group ? "group" : undefined} aria-label={group || undefined}>
      {group ? <h4>{group}</h4> : null}
      {fields.filter((field) => field.group === group).map((field) => (
        <Field key={field.name} path={["arguments", field.name]} kind={field.kind} title={field.title} help={field.help} required={field.required} usual={field.default} placeholder={field.placeholder} />
      ))}
    </div>
  ));
}

function waysInWords(choice: Choice, fields: readonly Argument[]): string {
  return choice.ways.flat().map((name) => fields.find((field) => field.name === name)?.title ?? name).join(", ");
}
