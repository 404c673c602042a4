//! What goes on beside editing: other people, drafts, files that are dropped, the run that the address names.

import { draftOf, keepDrafts } from "./drafts";
import { watchOutlook } from "./outlook";
import { watchPeers } from "./peers";
import { followAddress } from "./run";
import type { Session } from "./session";
import { watchDrops } from "./transfer";

/** Begins all of it. Returns how to stop. */
export function watchAll(session: Session): () => void {
  session.cell.set({ draft: draftOf(session) });
  const stops = [watchPeers, watchDrops, keepDrafts, followAddress, watchOutlook].map((watch) => watch(session));
  return () => { for (const stop of stops) stop(); };
}
