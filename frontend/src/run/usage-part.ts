// The part of a task that shows what its workers use: plots are loaded when somebody opens it.

import { whenOpened } from "../core/opened";

/** Follows what is opened, also what comes later: a task beside the run. */
export function watchUsage(): void {
  whenOpened("usage", (box) => void import("./usage").then(({ follow }) => follow(box)));
}
