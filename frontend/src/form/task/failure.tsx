//! Retries and timeouts of a task.

import { t } from "../../core/texts";
import { useBound, useForm } from "../context";
import { AmountField } from "../fields/amount";
import { Field } from "../fields/field";
import { ChecksField } from "../fields/checks";
import { Fold } from "../fold";
import { valueAt } from "../../graph/edit";
import { failureInWords } from "../summary";

const KINDS: Readonly<Record<string, string>> = {
  error: /* text */ "form.on-error",
  out_of_memory: /* text */ "form.on-out-of-memory",
  timeout: /* text */ "form.on-timeout",
  lost: /* text */ "form.on-lost",
  preempted: /* text */ "form.on-preempted",
};
const USUAL = ["error", "out_of_memory", "lost", "preempted"];

export function FailurePart() {
  const { tasks, template } = useForm();
  // A rejected approval is not retried.
  const tries = template === undefined || template.roles.length > 0;
  const attempts = useBound(["retry", "attempts"], "").value;
  const retry = useBound(["retry"], "").value;
  const summary = tasks.length === 1 ? failureInWords(valueAt(tasks[0], ["retry"]), valueAt(tasks[0], ["timeout"])) : "";
  return (
    <Fold name="failure" title={t("form.failure")} keys={["retry", "timeout"]} summary={summary}>
      <div className="form-row">
        {tries ? <Field path={["retry", "attempts"]} kind={{ type: "number", integer: true, minimum: 1 }} title={t("form.attempts")} help={t("form.attempts-help")} placeholder="1" plain /> : null}
        <AmountField path={["timeout"]} measure="span" title={t("form.timeout")} help={t("form.timeout-help")} placeholder={t("form.no-limit")} />
      </div>
      {attempts === undefined && retry === undefined ? null : (
        <>
          <div className="form-row">
            <AmountField path={["retry", "backoff", "initial"]} measure="span" title={t("form.backoff-initial")} placeholder="1s" />
            <Field path={["retry", "backoff", "factor"]} kind={{ type: "number", integer: false, minimum: 1 }} title={t("form.backoff-factor")} placeholder="2" plain />
            <AmountField path={["retry", "backoff", "max"]} measure="span" title={t("form.backoff-max")} placeholder="1h" />
          </div>
          <ChecksField path={["retry", "on"]} title={t("form.retry-on")} options={Object.keys(KINDS)} usual={USUAL} wordOf={(kind) => { const key = KINDS[kind]; return key ? t(key) : kind; }} />
        </>
      )}
    </Fold>
  );
}
