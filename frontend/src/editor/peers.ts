//! Other users of the same pipeline: each save notifies the others at once.

import { request } from "../api/client";
import { live } from "../core/live";
import type { Session } from "./session";

/** A version saved by another user. */
export interface Newer {
  readonly version: number;
  readonly user: string;
  readonly message: string;
  readonly created_at: string;
}

interface Told extends Newer {
  readonly name: string;
}

/** Subscribes to the project's events. Returns the unsubscribe function. */
export function watchPeers(session: Session): () => void {
  const take = (data: unknown) => {
    const told = data as Told;
    if (told.name === session.state.stored?.pipeline) noteNewer(session, told);
  };
  const ask = () => void newest(session);
  const stream = live(`/api/v1/projects/${session.project}/events`, { on: { pipeline: take }, onReturn: ask });
  // Another server on the same database does not notify this one.
  const seen = () => {
    if (document.visibilityState === "visible") ask();
  };
  document.addEventListener("visibilitychange", seen);
  return () => {
    stream.close();
    document.removeEventListener("visibilitychange", seen);
  };
}

/** Records a version; while this page saves, it may be its own. */
export function noteNewer(session: Session, newer: Newer): void {
  if (newer.version > (session.state.newer?.version ?? 0)) session.cell.set({ newer });
}

/** Another user's version that this page has not loaded; null if there is none. */
export function unseen(state: Session["state"]): Newer | null {
  const { newer, stored, saving } = state;
  return newer && stored && !saving && newer.version > stored.version ? newer : null;
}

async function newest(session: Session): Promise<void> {
  const { stored } = session.state;
  if (!stored) return;
  try {
    const { data } = await request("GET", `/projects/${session.project}/pipelines/${stored.pipeline}/versions?limit=1`);
    if (data.items[0]) noteNewer(session, data.items[0]);
  } catch {
    // Saving reports connection errors.
  }
}
