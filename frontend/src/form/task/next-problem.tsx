//! A task's problem count, without shifting the content below; each press goes to the next problem.

import { useState } from "react";
import { t } from "../../core/texts";
import { basePointer, useForm } from "../context";
import { problemsAt } from "../by-place";
import { goTo } from "../jump";

/** The button; nothing if there are no problems. */
export function NextProblem() {
  const form = useForm();
  const [next, setNext] = useState(0);
  const found = problemsAt(form.problems, basePointer(form), true);
  const target = found[next % Math.max(1, found.length)];
  if (!target) return null;
  const worst = found.some(({ severity }) => severity === "error") ? "danger" : "warning";
  const go = () => {
    setNext(next + 1);
    goTo(form.store, target.path);
  };
  return <button type="button" className={`tag ${worst} form-next`} title={t("form.next-problem")} onClick={go}>! {t("form.problems-in", { n: found.length })}</button>;
}
