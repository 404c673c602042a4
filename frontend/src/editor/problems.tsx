//! The problem count, with a list that links to each.

import { lazy, Suspense } from "react";
import { moreTexts, t } from "../core/texts";
import { Icon } from "./icon";
import type { Session } from "./session";
import { useEditor } from "./store";

const ProblemList = lazy(async () => {
  const [{ Problems: list }] = await Promise.all([import("../form/problems"), moreTexts("form")]);
  return { default: list };
});

export function Problems({ session }: { session: Session }) {
  const problems = useEditor(session.store, (state) => state.problems);
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const warnings = problems.length - errors;
  const kind = errors > 0 ? "error" : warnings > 0 ? "warning" : "good";
  const word = errors > 0 ? t("pipeline.errors", { n: errors }) : warnings > 0 ? t("pipeline.warnings", { n: warnings }) : t("pipeline.valid");
  return (
    <details className="menu end ed-problems" data-menu>
      <summary className="button quiet" data-kind={kind} title={word}>
        <Icon name={kind === "good" ? "check" : kind} />
        <span className="number" aria-hidden="true">{problems.length}</span>
        <span className="visually-hidden">{word}</span>
      </summary>
      <div className="menu-panel ed-problem-panel">
        <Suspense fallback={<span className="spinner" />}>
          <ProblemList store={session.store} onGo={() => { document.querySelector(".ed-problems")?.removeAttribute("open"); }} />
        </Suspense>
      </div>
    </details>
  );
}
