//! The editor's page: a toolbar, and below it the canvas or the text between two panels.

import { lazy, Suspense, useEffect } from "react";
import { moreTexts } from "../core/texts";
import { toast } from "../core/toast";
import { Bar } from "./bar";
import { useCell } from "./cell";
import { look } from "./load";
import { Middle } from "./middle";
import { Right } from "./right";
import type { Session } from "./session";
import { watchProblems } from "./validator";

const Banners = lazy(async () => ({ default: (await import("./banners")).Banners }));
const LogDrawer = lazy(async () => {
  const [{ LogDrawer: drawer }] = await Promise.all([import("./log-drawer"), moreTexts("pages")]);
  return { default: drawer };
});

export function App({ session, back }: { session: Session; back: string }) {
  useEffect(() => {
    const stops = [watchProblems, watchLeaving, watchKeys].map((watch) => watch(session));
    surroundings(session);
    // Background work starts after the visible parts.
    void import("./background").then(({ watchAll }) => { stops.push(watchAll(session)); });
    return () => { for (const stop of stops) stop(); };
  }, [session]);
  return (
    <div className="ed">
      <Bar session={session} back={back} />
      <Suspense><Banners session={session} /></Suspense>
      <div className="ed-body">
        <div className="ed-center">
          <Middle session={session} />
          <Log session={session} />
        </div>
        <Right session={session} />
      </div>
    </div>
  );
}

/** The log of a task, while it is open. */
function Log({ session }: { session: Session }) {
  const open = useCell(session.cell, (state) => state.log !== null && state.run !== null);
  return open ? <Suspense><LogDrawer session={session} /></Suspense> : null;
}

function surroundings(session: Session): void {
  for (const asked of look(session.project, session.readOnly)) {
    asked.then(
      (parts) => { session.cell.set({ surroundings: { ...session.cell.value.surroundings, ...parts } }); },
      (error: unknown) => { toast(error instanceof Error ? error.message : String(error), "error"); },
    );
  }
}

/** Asks before leaving with unsaved changes. */
function watchLeaving(session: Session): () => void {
  const ask = (event: BeforeUnloadEvent) => {
    if (session.dirty) event.preventDefault();
  };
  window.addEventListener("beforeunload", ask);
  return () => { window.removeEventListener("beforeunload", ask); };
}

/** Ctrl+S saves, wherever the focus is; all other shortcuts are the canvas's. */
function watchKeys(session: Session): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || event.defaultPrevented) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) void import("./save").then(({ save }) => save(session));
  };
  document.addEventListener("keydown", listen);
  return () => { document.removeEventListener("keydown", listen); };
}
