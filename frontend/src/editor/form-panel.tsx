//! The form panel, with the page's data.

import { useMemo } from "react";
import { t } from "../core/texts";
import { Form } from "../form/form";
import { taskOf } from "../graph/document";
import { useCell } from "./cell";
import type { Session } from "./session";
import { EditorStore, useEditor } from "./store";

/** The form of the selection. */
export function FormPanel({ session }: { session: Session }) {
  const { templates, places, secrets, volumes, pipelines, limits, priorities } = useCell(session.cell, (state) => state.surroundings);
  const stored = useCell(session.cell, (state) => state.stored !== null);
  const knowledge = { project: session.project, secrets, volumes, pipelines, limits, priorities, code: session.code, stored };
  const past = usePast(session);
  return (
    <>
      {past ? <p className="ed-panel-note" role="status">{t("editor.ghost-form")}</p> : null}
      <Form store={past ?? session.store} templates={templates} knowledge={knowledge} places={places} />
    </>
  );
}

/** The version that contains a shown task that the document has no longer. It is read-only. */
function usePast(session: Session): EditorStore | null {
  const against = useEditor(session.store, (state) => state.against);
  const ghost = useEditor(session.store, (state) => state.ghost);
  return useMemo(() => {
    if (!against || ghost === null || !taskOf(against, ghost)) return null;
    const past = new EditorStore(against, true);
    past.select([`task:${ghost}`]);
    return past;
  }, [against, ghost]);
}
