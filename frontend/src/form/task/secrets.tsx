//! The secrets of a task, by name.

import { useId } from "react";
import { t } from "../../core/texts";
import { useBound, useForm, type Bound } from "../context";
import { Frame } from "../fields/frame";
import { Picker } from "../fields/picker";
import { TextField } from "../fields/text";
import { Icon } from "../../editor/icon";
import { readSecret, usualVariable, writeSecret, type SecretUse, type SecretWay } from "./uses";

const WAYS: readonly SecretWay[] = ["variable", "env", "file"];

/** A row per secret, and a picker for the project's secrets. */
export function SecretsField() {
  const id = useId();
  const { knowledge } = useForm();
  const title = t("form.secrets");
  const bound = useBound(["secrets"], title);
  const uses = Array.isArray(bound.value) ? bound.value.map(readSecret) : [];
  const free = (knowledge.secrets ?? []).filter((name) => !uses.some((use) => use.name === name));
  const write = (next: readonly SecretUse[]) => { bound.set(next.length > 0 ? next.map(writeSecret) : undefined); };
  const step = (next: readonly SecretUse[]) => {
    bound.seal();
    write(next);
    bound.seal();
  };
  return (
    <Frame id={id} pointer={bound.pointer} title={title} help={t("form.secrets-help")}>
      {(ties) => (
        <div className="rows">
          <ul className="rows-list">
            {uses.map((use, index) => (
              <Row key={index} use={use} bound={bound} unknown={knowledge.secrets !== null && !knowledge.secrets.includes(use.name)} change={(next, whole) => { (whole ? step : write)(uses.with(index, next)); }} remove={() => { step(uses.toSpliced(index, 1)); }} />
            ))}
          </ul>
          {bound.readOnly ? null : <Picker id={ties.id} options={free} free placeholder={t("form.add-secret")} describedBy={ties.describedBy} pick={(name) => { step([...uses, { name, way: "variable", value: "" }]); }} />}
        </div>
      )}
    </Frame>
  );
}

interface RowParts {
  readonly use: SecretUse;
  readonly bound: Bound;
  readonly unknown: boolean;
  readonly change: (use: SecretUse, whole: boolean) => void;
  readonly remove: () => void;
}

function Row({ use, bound, unknown, change, remove }: RowParts) {
  const id = useId();
  const words: Record<SecretWay, string> = { variable: t("form.secret-variable", { name: usualVariable(use.name) }), env: t("form.secret-env"), file: t("form.secret-file") };
  return (
    <li className="rows-use">
      <span className="mono rows-name">{use.name}</span>
      {bound.readOnly ? null : <button type="button" className="button quiet small icon-only" aria-label={t("form.remove-name", { name: use.name })} title={t("form.remove-name", { name: use.name })} onClick={remove}><Icon name="close" /></button>}
      <select className="input" value={use.way} disabled={bound.readOnly} aria-label={t("form.given-as", { name: use.name })} onChange={(event) => { change({ ...use, way: event.target.value as SecretWay, value: "" }, true); }}>
        {WAYS.map((way) => <option key={way} value={way}>{words[way]}</option>)}
      </select>
      {use.way === "variable" ? null : (
        <TextField id={id} text={use.value} onText={(value) => { change({ ...use, value }, false); }} onLeave={bound.seal} label={words[use.way]} readOnly={bound.readOnly} placeholder={use.way === "env" ? usualVariable(use.name) : use.name} mono />
      )}
      {unknown ? <p className="field-warning">{t("form.secret-unknown", { name: use.name })}</p> : null}
    </li>
  );
}
