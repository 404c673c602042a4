//! Required outputs of a task, and whether an equal earlier result is reused.

import { t } from "../../core/texts";
import { useBound, useForm } from "../context";
import { AmountField } from "../fields/amount";
import { Field } from "../fields/field";
import { Segments } from "../fields/segments";
import { Fold } from "../fold";
import { valueAt } from "../../graph/edit";
import { isMapping } from "../path";
import { resultsInWords } from "../summary";

// An example, which is the same in every language.
const FOLDER = "{{ run.dir }}/data";

export function ResultsPart() {
  const { tasks, template } = useForm();
  const [task] = tasks;
  const reported = template?.outputs ?? [];
  return (
    <Fold name="results" title={t("form.results")} keys={["outputs", "cache"]} summary={resultsInWords(valueAt(task, ["outputs"]), valueAt(task, ["cache"]))}>
      <Field path={["outputs"]} kind={{ type: "list", item: { type: "text", long: false }, placeholder: "" }} title={t("form.outputs")} help={t("form.outputs-help")} plain />
      {reported.length > 0 ? <p className="field-help">{t("form.outputs-reported")} {reported.map((output) => <code key={output.name} className="mono" title={output.description}>{output.name} </code>)}</p> : null}
      <Cache />
    </Fold>
  );
}

function Cache() {
  const title = t("form.cache");
  const bound = useBound(["cache"], title);
  const detailed = isMapping(bound.value);
  const chosen = detailed ? 2 : bound.value === true ? 1 : 0;
  const choose = (index: number) => {
    bound.seal();
    bound.set(index === 0 ? undefined : index === 1 ? true : { inputs: [] });
    bound.seal();
  };
  return (
    <div className="field form-field" role="group" aria-label={title} data-pointer={bound.pointer}>
      <span className="field-label">{title}</span>
      <Segments label={title} options={[t("form.no"), t("form.yes"), t("form.cache-files")]} chosen={chosen} disabled={bound.readOnly} choose={choose} />
      <p className="field-help">{t("form.cache-help")}</p>
      {detailed ? (
        <>
          <Field path={["cache", "inputs"]} kind={{ type: "list", item: { type: "text", long: false }, placeholder: FOLDER }} title={t("form.cache-inputs")} help={t("form.cache-inputs-help")} inElements required />
          <AmountField path={["cache", "max_age"]} measure="span" title={t("form.cache-age")} placeholder={t("form.no-limit")} />
        </>
      ) : null}
    </div>
  );
}
