//! Between the panels: the canvas, the text, or both.

import { useCell } from "./cell";
import type { Session } from "./session";
import { TextPane } from "./text-pane";

/** What is in the middle. */
export function Middle({ session }: { session: Session }) {
  const look = useCell(session.cell, (state) => state.look);
  return (
    <div className="ed-middle" data-look={look}>
      <TextPane session={session} />
    </div>
  );
}
