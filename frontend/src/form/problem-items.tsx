//! Problems below each other; each leads to its field.

import type { Problem } from "../api/problem";
import { t } from "../core/texts";
import { useForm } from "./context";
import { Icon } from "../editor/icon";
import { goTo } from "./jump";
import { placeWords } from "./by-place";

/** The list. */
export function ProblemItems({ problems, label }: { problems: readonly Problem[]; label: string }) {
  const { store } = useForm();
  return (
    <ul className="problem-items" aria-label={label}>
      {problems.map((problem, index) => (
        <li key={index}>
          <ProblemButton problem={problem} go={() => { goTo(store, problem.path); }} />
        </li>
      ))}
    </ul>
  );
}

/** One problem: its sign, its sentence, and where it is. */
export function ProblemButton({ problem, go }: { problem: Problem; go: () => void }) {
  const isError = problem.severity === "error";
  const place = placeWords(problem.path);
  return (
    <button type="button" className="problem-item" data-severity={problem.severity} onClick={go}>
      <Icon name={isError ? "error" : "warning"} />
      <span className="visually-hidden">{isError ? t("form.error") : t("form.warning")}: </span>
      <span>{problem.message}{place ? <span className="problem-place mono"> {place}</span> : null}</span>
    </button>
  );
}
