//! The list of all problems by task, with a link to each task and field.

import "../styles/form.css";
import { t } from "../core/texts";
import { useEditor, type EditorStore } from "../editor/store";
import { goTo } from "./jump";
import { grouped } from "./by-place";
import { ProblemButton } from "./problem-button";

/** The list. `onGo` is called when one is selected, e.g. to close the surrounding panel. */
export function Problems({ store, onGo }: { store: EditorStore; onGo?: () => void }) {
  const problems = useEditor(store, (state) => state.problems);
  const document = useEditor(store, (state) => state.document);
  if (problems.length === 0) return <p className="muted small">{t("form.no-problems")}</p>;
  return (
    <div className="problems">
      {grouped(problems, document).map(({ task, problems: found }) => (
        <section key={task ?? ""} aria-label={task ?? t("form.pipeline")}>
          <h3 className={task === null ? "problems-of" : "problems-of mono"}>{task ?? t("form.pipeline")}</h3>
          <ul className="problem-items">
            {found.map((problem, index) => (
              <li key={index}>
                <ProblemButton
                  problem={problem}
                  go={() => {
                    goTo(store, problem.path);
                    onGo?.();
                  }}
                />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
