//! Between the panels: the canvas, the text, or both. A hidden canvas stays mounted and keeps its view.

import { lazy, Suspense, useMemo, useRef } from "react";
import { Canvas } from "../canvas/canvas";
import { toast } from "../core/toast";
import { t } from "../core/texts";
import { goTo } from "../form/jump";
import { useCell } from "./cell";
import type { Session } from "./session";

const TextPane = lazy(async () => ({ default: (await import("./text-pane")).TextPane }));

export function Middle({ session }: { session: Session }) {
  const look = useCell(session.cell, (state) => state.look);
  const templates = useCell(session.cell, (state) => state.surroundings.templates);
  const seen = useRef(false);
  if (look !== "text") seen.current = true;
  const doors = useMemo(
    () => ({
      // Escape in the form returns here.
      onOpen: (task: string) => { goTo(session.store, `/tasks/${session.store.state.document.tasks.findIndex((one) => one.name === task)}/arguments`); },
      onLogs: (task: string) => { openLog(session, task); },
    }),
    [session],
  );
  return (
    <div className="ed-middle" data-look={look}>
      {seen.current ? (
        <div className="ed-canvas" hidden={look === "text"}>
          <Canvas store={session.store} templates={templates} onOpen={doors.onOpen} onLogs={doors.onLogs} />
        </div>
      ) : null}
      {look === "canvas" ? null : <Suspense fallback={<div className="ed-text" />}><TextPane session={session} /></Suspense>}
    </div>
  );
}

function openLog(session: Session, task: string): void {
  if (session.state.run) session.cell.set({ log: task });
  else toast(t("editor.no-run-shown"));
}
