//! Background work of the editor: other users, drafts, dropped files, the run in the URL.

import { draftOf, keepDrafts } from "./drafts";
import { watchOutlook } from "./outlook";
import { watchPeers } from "./peers";
import { followAddress } from "./run";
import type { Session } from "./session";
import { watchDrops } from "./transfer";

/** Starts all of it. Returns the stop function. */
export function watchAll(session: Session): () => void {
  session.cell.set({ draft: draftOf(session) });
  const stops = [watchPeers, watchDrops, keepDrafts, followAddress, watchOutlook].map((watch) => watch(session));
  return () => { for (const stop of stops) stop(); };
}
