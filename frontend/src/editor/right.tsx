//! The panel on the right: the form of what is selected, or the history.

import { useEffect } from "react";
import { t } from "../core/texts";
import { Form } from "../form/form";
import { useCell } from "./cell";
import type { Session } from "./session";
import { SidePanel } from "./side-panel";
import { useEditor } from "./store";
import { VersionsPanel } from "./versions-panel";

/** The panel. */
export function Right({ session }: { session: Session }) {
  const panel = useCell(session.cell, (state) => state.panel);
  const wanted = useEditor(session.store, (state) => state.wanted);
  // A field that somebody goes to is shown, whatever was there.
  useEffect(() => {
    if (wanted) session.cell.set({ panel: "form" });
  }, [wanted, session]);
  return (
    <SidePanel name="right" side="right" label={panel === "versions" ? t("editor.versions") : t("editor.form")} width={360} open={panel !== null}>
      {panel === "form" ? <FormPanel session={session} /> : null}
      {panel === "versions" ? <VersionsPanel session={session} /> : null}
    </SidePanel>
  );
}

function FormPanel({ session }: { session: Session }) {
  const { templates, places, secrets, volumes } = useCell(session.cell, (state) => state.surroundings);
  const stored = useCell(session.cell, (state) => state.stored !== null);
  const knowledge = { project: session.project, secrets, volumes, code: session.code, stored };
  return <Form store={session.store} templates={templates} knowledge={knowledge} places={places} />;
}

/** Shows a part of the panel; what is shown already is folded away. */
export function toggle(session: Session, panel: "form" | "versions"): void {
  session.cell.set({ panel: session.state.panel === panel ? null : panel });
}
