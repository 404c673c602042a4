//! How many problems there are; the list leads to each.

import type { Problem } from "../api/problem";
import { t } from "../core/texts";
import { taskOfPath } from "./jump";
import { Icon } from "./icon";
import type { Session } from "./session";
import { useEditor } from "./store";

/** The count, and the list behind it. */
export function Problems({ session }: { session: Session }) {
  const problems = useEditor(session.store, (state) => state.problems);
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const warnings = problems.length - errors;
  const kind = errors > 0 ? "error" : warnings > 0 ? "warning" : "good";
  const word = errors > 0 ? t("pipeline.errors", { n: errors }) : warnings > 0 ? t("pipeline.warnings", { n: warnings }) : t("pipeline.valid");
  return (
    <details className="menu end ed-problems" data-menu>
      <summary className="button quiet" data-kind={kind} aria-label={word} title={word}>
        <Icon name={kind === "good" ? "check" : kind} />
        <span className="number">{problems.length}</span>
      </summary>
      <div className="menu-panel ed-problem-panel">
        {problems.length === 0 ? <p className="menu-title">{t("pipeline.valid")}</p> : null}
        <ul aria-label={t("pipeline.problems")}>
          {problems.map((problem, at) => <Row key={`${problem.code} ${problem.path} ${at}`} session={session} problem={problem} />)}
        </ul>
      </div>
    </details>
  );
}

function Row({ session, problem }: { session: Session; problem: Problem }) {
  const task = taskOfPath(session.store.state.document, problem.path);
  const go = () => {
    if (task !== null) session.store.select([`task:${task}`]);
  };
  return (
    <li data-severity={problem.severity}>
      <button className="menu-item" type="button" onClick={go}>
        <Icon name={problem.severity} />
        <span>{task === null ? null : <strong className="mono">{task}</strong>} {problem.message}</span>
      </button>
    </li>
  );
}
