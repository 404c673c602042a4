// The usage section of a task: plots are loaded when it is opened.

import { whenOpened } from "../core/opened";

/** Handles opened sections, including later ones in a task panel. */
export function watchUsage(): void {
  whenOpened("usage", (box) => void import("./usage").then(({ follow }) => follow(box)));
}
