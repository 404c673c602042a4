//! The right panel: the form of the selection, or the history. Each is loaded when it is first shown.

import { lazy, Suspense, useEffect } from "react";
import { moreTexts, t } from "../core/texts";
import { useCell } from "./cell";
import type { Session } from "./session";
import { SidePanel } from "./side-panel";
import { useEditor } from "./store";

const FormPanel = lazy(async () => {
  const [{ FormPanel: panel }] = await Promise.all([import("./form-panel"), moreTexts("form")]);
  return { default: panel };
});
const VersionsPanel = lazy(async () => ({ default: (await import("./versions-panel")).VersionsPanel }));

export function Right({ session }: { session: Session }) {
  const panel = useCell(session.cell, (state) => state.panel);
  const wanted = useEditor(session.store, (state) => state.wanted);
  const ghost = useEditor(session.store, (state) => state.ghost);
  // Navigating to a field opens the form, whatever was shown.
  useEffect(() => {
    if (wanted || ghost !== null) session.cell.set({ panel: "form" });
  }, [wanted, ghost, session]);
  return (
    <SidePanel name="right" side="right" label={panel === "versions" ? t("editor.versions") : t("editor.form")} width={360} open={panel !== null}>
      <Suspense fallback={<p className="ed-panel-note"><span className="spinner" /></p>}>
        {panel === "versions" ? <VersionsPanel session={session} /> : null}
        {panel === "form" ? <FormPanel session={session} /> : null}
      </Suspense>
    </SidePanel>
  );
}

/** Shows a part of the panel; closes the panel if that part is already shown. */
export function toggle(session: Session, panel: "form" | "versions"): void {
  session.cell.set({ panel: session.state.panel === panel ? null : panel });
}
