//! A search: its space, its objective, and its number of trials.

import { t } from "../../core/texts";
import { useBound } from "../context";
import { Field } from "../fields/field";
import { Prose } from "../fields/prose";
import { Segments } from "../fields/segments";
import { isMapping } from "../path";
import type { Field as Member, Kind } from "../schema/kinds";

const GOALS = ["maximize", "minimize"] as const;
/** The default concurrency of trials if the next ones depend on them. */
const AT_ONCE = "4";

/** The fields; shown if a task has a search. */
export function SearchFields() {
  const title = t("form.search-goal");
  const bound = useBound(["search"], title);
  const search = isMapping(bound.value) ? bound.value : {};
  const goal = GOALS.find((one) => search[one] !== undefined) ?? "maximize";
  const turn = (index: number) => {
    const { [goal]: of, ...rest } = search;
    bound.seal();
    bound.set({ ...rest, [GOALS[index] ?? "maximize"]: of ?? "" });
    bound.seal();
  };
  const byModel = search["method"] === undefined || search["method"] === "tpe";
  const isGrid = search["method"] === "grid";
  const whole = (minimum: number): Kind => ({ type: "number", integer: true, minimum });
  return (
    <>
      <p className="field-help"><Prose text={t("form.search-help")} /></p>
      <Field path={["search", "over"]} kind={{ type: "map", value: axis() }} title={t("form.search-over")} help={t("form.search-over-help")} required plain />
      <div className="field form-field">
        <span className="field-label">{title}</span>
        <Segments label={title} options={[t("form.search-maximize"), t("form.search-minimize")]} chosen={GOALS.indexOf(goal)} disabled={bound.readOnly} choose={turn} />
      </div>
      <Field path={["search", goal]} kind={{ type: "text", long: false }} title={t("form.search-of")} help={t("form.search-of-help")} placeholder="accuracy" required plain />
      <div className="form-row">
        <Field path={["search", "method"]} kind={{ type: "choice", options: ["tpe", "random", "grid"] }} title={t("form.search-method")} help={t("form.search-method-help")} usual="tpe" plain />
        <Field path={["search", "trials"]} kind={whole(1)} title={t("form.search-trials")} placeholder={isGrid ? t("form.search-whole") : ""} required={!isGrid} plain />
        <Field path={["search", "parallelism"]} kind={whole(1)} title={t("form.at-once")} placeholder={byModel ? AT_ONCE : t("form.no-limit")} plain />
      </div>
      <div className="form-row">
        <Field path={["search", "max_failures"]} kind={whole(0)} title={t("form.search-failures")} placeholder="3" plain />
        <Field path={["search", "seed"]} kind={whole(0)} title={t("form.search-seed")} help={t("form.search-seed-help")} placeholder={t("form.search-own-seed")} plain />
      </div>
      <p className="field-help">{t("form.search-early")}: {t("form.search-early-help")}</p>
      <div className="form-row">
        <Field path={["search", "early_stop", "min_steps"]} kind={whole(1)} title={t("form.search-min-steps")} plain />
        {search["early_stop"] === undefined ? null : <Field path={["search", "early_stop", "factor"]} kind={whole(2)} title={t("form.search-factor")} placeholder="3" plain />}
      </div>
    </>
  );
}

/** The values of one parameter. */
function axis(): Kind {
  const number: Kind = { type: "number", integer: false };
  const member = (name: string, title: string, kind: Kind, rest: Partial<Member> = {}): Member => ({
    name, title, kind, help: "", required: false, default: undefined, placeholder: "", group: "", ...rest,
  });
  const range: Kind = {
    type: "object",
    fields: [
      member("minimum", t("form.search-minimum"), number, { required: true }),
      member("maximum", t("form.search-maximum"), number, { required: true }),
      member("type", t("form.search-type"), { type: "choice", options: ["number", "integer"] }, { default: "number" }),
      member("scale", t("form.search-scale"), { type: "choice", options: ["linear", "log"] }, { default: "linear", help: t("form.search-scale-help") }),
      member("step", t("form.search-step"), number),
    ],
  };
  const values: Kind = { type: "list", item: { type: "scalar" }, placeholder: "" };
  return { type: "variants", variants: [{ name: t("form.search-values"), kind: values }, { name: t("form.search-range"), kind: range }] };
}
