//! The home page: any event triggers a refresh.

import { live } from "../core/live";
import { paintTimes } from "../core/time";
import { watchSizing } from "../people/sizing";
import { Refresher, takeParts } from "../run/refresh";

/** Pending reasons change without events. */
const LOOK_AGAIN_MS = 15_000;

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
