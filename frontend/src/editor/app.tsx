//! The editor's page: a bar above, and below it the canvas or the text between two panels.

import { useEffect } from "react";
import { toast } from "../core/toast";
import { Banners } from "./banners";
import { Bar } from "./bar";
import { draftOf, keepDrafts } from "./drafts";
import { look } from "./load";
import { LogDrawer } from "./log-drawer";
import { Middle } from "./middle";
import { watchPeers } from "./peers";
import { Right } from "./right";
import { followAddress } from "./run";
import { save } from "./save";
import type { Session } from "./session";
import { watchDrops } from "./transfer";
import { watchProblems } from "./validator";

/** The whole page. */
export function App({ session, back }: { session: Session; back: string }) {
  useEffect(() => {
    const stops = [watchProblems, watchLeaving, watchKeys, watchPeers, watchDrops, keepDrafts, followAddress].map((watch) => watch(session));
    session.cell.set({ draft: draftOf(session) });
    void surroundings(session);
    return () => { for (const stop of stops) stop(); };
  }, [session]);
  return (
    <div className="ed">
      <Bar session={session} back={back} />
      <Banners session={session} />
      <div className="ed-body">
        <div className="ed-center">
          <Middle session={session} />
          <LogDrawer session={session} />
        </div>
        <Right session={session} />
      </div>
    </div>
  );
}

async function surroundings(session: Session): Promise<void> {
  try {
    session.cell.set({ surroundings: await look(session.project) });
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), "error");
  }
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
