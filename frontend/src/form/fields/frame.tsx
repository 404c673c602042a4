//! The frame of a field: its label, help and errors.

import type { ReactNode } from "react";
import type { Problem } from "../../api/problem";
import { t } from "../../core/texts";
import { useForm } from "../context";
import { problemsAt } from "../by-place";
import { Prose } from "./prose";

/** What ties a control to its label and errors. */
export interface Ties {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly invalid: boolean;
}

interface FrameParts {
  readonly id: string;
  readonly pointer: string;
  readonly title: string;
  readonly help?: string | undefined;
  readonly required?: boolean | undefined;
  /** The field's own error, before the server's. */
  readonly wrong?: string | null | undefined;
  /** Whether problems below it are shown here. */
  readonly deep?: boolean;
  /** Whether the label is for a group of controls. */
  readonly group?: boolean;
  readonly actions?: ReactNode;
  readonly children: (ties: Ties) => ReactNode;
}

/** A field. Its element has the JSON pointer, by which problems link to it. */
export function Frame({ id, pointer, title, help, required, wrong, deep = true, group = false, actions, children }: FrameParts) {
  const { problems } = useForm();
  const found = wrong ? [] : problemsAt(problems, pointer, deep);
  const described = [help ? `${id}-help` : "", wrong || found.length > 0 ? `${id}-wrong` : ""].filter(Boolean).join(" ");
  const invalid = Boolean(wrong) || found.some(({ severity }) => severity === "error");
  const words = <>{title}{required ? <span className="field-required" title={t("form.required")} aria-hidden="true"> *</span> : null}</>;
  return (
    <div className="field form-field" data-pointer={pointer} {...(group ? { role: "group", "aria-labelledby": `${id}-label` } : {})}>
      <div className="form-field-head">
        {group ? <span className="field-label" id={`${id}-label`}>{words}</span> : <label className="field-label" id={`${id}-label`} htmlFor={id}>{words}</label>}
        {actions ? <span className="form-field-actions">{actions}</span> : null}
      </div>
      {children({ id, describedBy: described || undefined, invalid })}
      {help ? <p className="field-help" id={`${id}-help`}><Prose text={help} /></p> : null}
      <Wrong id={`${id}-wrong`} own={wrong ?? null} problems={found} />
    </div>
  );
}

/** The errors of a field, each as a sentence. */
export function Wrong({ id, own, problems }: { id: string; own: string | null; problems: readonly Problem[] }) {
  if (!own && problems.length === 0) return null;
  return (
    <div id={id} className="form-wrong">
      {own ? <p className="field-error">{own}</p> : null}
      {problems.map((problem, index) => <p key={index} className={problem.severity === "error" ? "field-error" : "field-warning"}><span><Prose text={problem.message} /></span></p>)}
    </div>
  );
}
