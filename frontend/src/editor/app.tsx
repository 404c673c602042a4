//! The editor's page: a bar above, and below it the canvas or the text between two panels.

import { useEffect } from "react";
import { t } from "../core/texts";
import { Bar } from "./bar";
import { useCell } from "./cell";
import { Icon } from "./icon";
import { look } from "./load";
import { Middle } from "./middle";
import { save } from "./save";
import type { Session } from "./session";
import { toast } from "../core/toast";
import { watchProblems } from "./validator";

/** The whole page. */
export function App({ session, back }: { session: Session; back: string }) {
  useEffect(() => watchProblems(session), [session]);
  useEffect(() => watchLeaving(session), [session]);
  useEffect(() => watchKeys(session), [session]);
  useEffect(() => {
    look(session.project).then(
      (surroundings) => { session.cell.set({ surroundings }); },
      (error: unknown) => { toast(error instanceof Error ? error.message : String(error), "error"); },
    );
  }, [session]);
  return (
    <div className="ed">
      <Bar session={session} back={back} />
      <Broken session={session} />
      <div className="ed-body">
        <Middle session={session} />
      </div>
    </div>
  );
}

/** Says that the canvas shows an older state than the text. */
function Broken({ session }: { session: Session }) {
  const broken = useCell(session.cell, (state) => state.broken);
  if (!broken) return null;
  const first = broken.problems[0];
  const where = first?.line === undefined ? "" : `${t("pipeline.line", { line: first.line })}: `;
  return (
    <div className="ed-banner" data-kind="error" role="status">
      <Icon name="error" />
      <p>{t("editor.broken")} <span className="muted">{where}{first?.message}</span></p>
      <button className="button small" type="button" onClick={() => { session.mend(); }}>{t("editor.broken-back")}</button>
    </div>
  );
}

/** Leaving with unsaved work asks. */
function watchLeaving(session: Session): () => void {
  const ask = (event: BeforeUnloadEvent) => {
    if (session.dirty) event.preventDefault();
  };
  window.addEventListener("beforeunload", ask);
  return () => { window.removeEventListener("beforeunload", ask); };
}

/** Ctrl+S saves, wherever the focus is; the rest are the canvas' own keys. */
function watchKeys(session: Session): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || event.defaultPrevented) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) void save(session);
  };
  document.addEventListener("keydown", listen);
  return () => { document.removeEventListener("keydown", listen); };
}
