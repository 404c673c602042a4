//! The panel on the right: the form of what is selected, or the history.

import { t } from "../core/texts";
import { useCell } from "./cell";
import type { Session } from "./session";
import { SidePanel } from "./side-panel";
import { VersionsPanel } from "./versions-panel";

/** The panel. */
export function Right({ session }: { session: Session }) {
  const panel = useCell(session.cell, (state) => state.panel);
  return (
    <SidePanel name="right" side="right" label={t("editor.versions")} width={360} open={panel !== null}>
      {panel === "versions" ? <VersionsPanel session={session} /> : null}
    </SidePanel>
  );
}

/** Shows a part of the panel; what is shown already is folded away. */
export function toggle(session: Session, panel: "form" | "versions"): void {
  session.cell.set({ panel: session.state.panel === panel ? null : panel });
}
