//! The menus at the end of the toolbar.

import { MoreMenu } from "./more-menu";
import { RunMenu } from "./run-menu";
import type { Session } from "./session";

/** The file menu and the run button. */
export function Actions({ session }: { session: Session }) {
  return (
    <div className="ed-actions">
      <MoreMenu session={session} />
      <RunMenu session={session} />
    </div>
  );
}
