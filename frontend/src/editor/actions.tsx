//! The menus at the end of the bar.

import { MoreMenu } from "./more-menu";
import { RunMenu } from "./run-menu";
import type { Session } from "./session";

/** Files and more, and running. */
export function Actions({ session }: { session: Session }) {
  return (
    <div className="ed-actions">
      <MoreMenu session={session} />
      <RunMenu session={session} />
    </div>
  );
}
