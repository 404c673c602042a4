//! One problem in a list, with a link to its field.

import type { Problem } from "../api/problem";
import { t } from "../core/texts";
import { Icon } from "../editor/icon";
import { Prose } from "./fields/prose";
import { placeWords } from "./by-place";

/** One problem: its icon, its message, and its location. */
export function ProblemButton({ problem, go }: { problem: Problem; go: () => void }) {
  const isError = problem.severity === "error";
  const place = placeWords(problem.path);
  return (
    <button type="button" className="problem-item" data-severity={problem.severity} onClick={go}>
      <Icon name={isError ? "error" : "warning"} />
      <span className="visually-hidden">{isError ? t("form.error") : t("form.warning")}: </span>
      <span><Prose text={problem.message} />{place ? <span className="problem-place mono"> {place}</span> : null}</span>
    </button>
  );
}
