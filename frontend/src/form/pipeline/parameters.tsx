//! The parameters of a run: names, types, defaults and bounds.

import { useId, useState } from "react";
import { t } from "../../core/texts";
import type { Json, JsonObject } from "../../graph/document";
import { useBound, useForm } from "../context";
import { shown } from "../draft";
import { Field } from "../fields/field";
import { Icon } from "../../editor/icon";
import { renameParameter } from "../../graph/edit";
import { isVariable } from "../names";
import { isMapping } from "../path";
import { ParameterName } from "./parameter-name";
import { defaultKind, elementKind, TYPES } from "./types";

/** A box per parameter, and a field that adds one. */
export function ParametersField() {
  const { readOnly, store } = useForm();
  const id = useId();
  const title = t("form.parameters");
  const bound = useBound(["parameters"], title);
  const declared = isMapping(bound.value) ? bound.value : {};
  const [adding, setAdding] = useState("");
  const entries = Object.entries(declared);
  const wrong = adding !== "" && (declared[adding] !== undefined || !isVariable(adding));
  const write = (next: readonly (readonly [string, Json])[]) => {
    bound.seal();
    bound.set(next.length > 0 ? Object.fromEntries(next) : undefined);
    bound.seal();
  };
  const rename = (from: string, to: string) => { store.apply(t("form.renamed", { from, to }), (document) => renameParameter(document, from, to)); };
  const add = () => {
    if (adding === "" || wrong) return;
    write([...entries, [adding, { type: "string" }]]);
    setAdding("");
  };
  return (
    <div className="form-parameters" data-pointer={bound.pointer}>
      <p className="field-help">{t("form.parameters-help")}</p>
      {entries.map(([name, parameter], index) => (
        <Parameter key={index} name={name} parameter={isMapping(parameter) ? parameter : {}} taken={declared} rename={(to) => { rename(name, to); }} remove={() => { write(entries.toSpliced(index, 1)); }} />
      ))}
      {readOnly ? null : (
        <>
          <div className="form-beside">
            <input className="input mono" id={id} value={adding} placeholder={t("form.new-parameter")} aria-label={t("form.new-parameter")} autoComplete="off" spellCheck={false} aria-invalid={wrong ? true : undefined} aria-describedby={wrong ? `${id}-wrong` : undefined} onChange={(event) => { setAdding(event.target.value.trim()); }} onKeyDown={(event) => { if (event.key === "Enter") add(); }} />
            <button type="button" className="button" disabled={adding === "" || wrong} onClick={add}><Icon name="plus" />{t("form.add-element")}</button>
          </div>
          {wrong ? <p className="field-error" id={`${id}-wrong`}>{declared[adding] === undefined ? t("form.not-a-variable") : t("form.name-taken", { name: adding })}</p> : null}
        </>
      )}
    </div>
  );
}

interface ParameterParts {
  readonly name: string;
  readonly parameter: JsonObject;
  readonly taken: JsonObject;
  readonly rename: (name: string) => void;
  readonly remove: () => void;
}

function Parameter({ name, parameter, taken, rename, remove }: ParameterParts) {
  const { readOnly } = useForm();
  const [more, setMore] = useState(["description", "enum", "minimum", "maximum"].some((key) => parameter[key] !== undefined));
  const path = ["parameters", name];
  const type = shown(parameter["type"]);
  const numeric = type === "integer" || type === "number";
  const bound = useBound([...path, "type"], t("form.type"));
  return (
    <div className="form-card" role="group" aria-label={name}>
      <div className="form-beside">
        <ParameterName name={name} taken={taken} readOnly={readOnly} rename={rename} />
        <select className="input form-type" value={type} disabled={readOnly} aria-label={t("form.type-of", { name })} onChange={(event) => { bound.set(event.target.value); bound.seal(); }}>
          {(TYPES as readonly string[]).includes(type) ? null : <option value={type}>{type}</option>}
          {TYPES.map((one) => <option key={one}>{one}</option>)}
        </select>
        {readOnly ? null : <button type="button" className="button quiet icon-only" aria-label={t("form.remove-name", { name })} title={t("form.remove-name", { name })} onClick={remove}><Icon name="trash" /></button>}
      </div>
      <Field path={[...path, "default"]} kind={defaultKind(parameter)} title={t("form.default")} placeholder={t("form.must-be-given")} />
      {more ? (
        <>
          <Field path={[...path, "description"]} kind={{ type: "text", long: false }} title={t("form.description")} plain />
          {numeric ? (
            <div className="form-row">
              <Field path={[...path, "minimum"]} kind={{ type: "number", integer: false }} title={t("form.minimum")} plain />
              <Field path={[...path, "maximum"]} kind={{ type: "number", integer: false }} title={t("form.maximum")} plain />
            </div>
          ) : null}
          {type === "boolean" ? null : <Field path={[...path, "enum"]} kind={{ type: "list", item: elementKind(type), placeholder: "" }} title={t("form.allowed")} help={t("form.allowed-help")} plain />}
        </>
      ) : <button type="button" className="button quiet small" onClick={() => { setMore(true); }}><Icon name="more" />{t("form.more-of", { name })}</button>}
    </div>
  );
}
