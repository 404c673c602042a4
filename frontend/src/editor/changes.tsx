//! The differences between a version and the current document, by task; each line selects its task.

import { useMemo } from "react";
import { t } from "../core/texts";
import { difference, isEmptyDifference, type FieldChange } from "../graph/diff";
import type { PipelineDocument } from "../graph/document";
import { written } from "./reconcile";
import type { Session } from "./session";
import { useEditor } from "./store";

export function Changes({ session, before }: { session: Session; before: PipelineDocument }) {
  const document = useEditor(session.store, (state) => state.document);
  const found = useMemo(() => difference(before, document), [before, document]);
  if (isEmptyDifference(found)) return <p className="muted small">{t("editor.no-difference")}</p>;
  const go = (task: string) => () => { session.store.select([`task:${task}`]); };
  return (
    <ul className="ed-changes">
      {found.added.map((task) => <li key={`+${task}`}><Mark kind="added" /><button type="button" className="mono" onClick={go(task)}>{task}</button></li>)}
      {found.removed.map((task) => <li key={`-${task}`}><Mark kind="removed" /><button type="button" className="mono" onClick={() => { session.store.lookBack(task); }}>{task}</button></li>)}
      {found.renamed.map(({ from, to }) => <li key={`=${to}`}><Mark kind="changed" /><button type="button" className="mono" onClick={go(to)}>{from} → {to}</button></li>)}
      {[...found.changed].map(([task, changes]) => (
        <li key={`~${task}`}>
          <Mark kind="changed" /><button type="button" className="mono" onClick={go(task)}>{task}</button>
          <Fields changes={changes} />
        </li>
      ))}
      {found.pipeline.length === 0 ? null : <li><Mark kind="changed" /><span>{t("editor.pipeline")}</span><Fields changes={found.pipeline} /></li>}
      {found.canvas.length === 0 ? null : <li className="muted"><Mark kind="changed" />{t("editor.moved")}</li>}
    </ul>
  );
}

const SIGNS = { added: "+", removed: "−", changed: "~" };
const WORDS = {
  added: /* text */ "editor.added",
  removed: /* text */ "editor.removed",
  changed: /* text */ "editor.changed",
};

/** An icon, with its label for screen readers. */
function Mark({ kind }: { kind: keyof typeof SIGNS }) {
  return <span className="ed-change-mark" data-kind={kind} title={t(WORDS[kind])}><span aria-hidden="true">{SIGNS[kind]}</span><span className="visually-hidden">{t(WORDS[kind])}</span></span>;
}

function Fields({ changes }: { changes: readonly FieldChange[] }) {
  return (
    <dl className="ed-fields">
      {changes.map(({ path, before, after }) => (
        <div key={path.join("/")}>
          <dt className="mono">{path.join(".")}</dt>
          <dd><del>{written(before)}</del> <ins>{written(after)}</ins></dd>
        </div>
      ))}
    </dl>
  );
}
