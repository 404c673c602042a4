//! The home page keeps itself up to date: an event is a reason to read it again.

import { live } from "../core/live";
import { paintTimes } from "../core/time";
import { watchSizing } from "../people/sizing";
import { Refresher, takeParts } from "../run/refresh";

/** Why something waits changes without an event of its own. */
const LOOK_AGAIN_MS = 15_000;

/** Starts it. */
export function start(): void {
  watchSizing();
  const refresher = new Refresher((fresh) => {
    takeParts(fresh, ["home"]);
    paintTimes();
  });
  const soon = () => { refresher.soon(); };
  live("/api/v1/events", { on: { run: soon, deleted: soon }, onReturn: soon });
  setInterval(() => {
    if (document.visibilityState === "visible") soon();
  }, LOOK_AGAIN_MS);
}
