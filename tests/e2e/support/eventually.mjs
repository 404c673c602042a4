// Scripts draw with the next frame, and servers answer when they can: what is asked is asked again until it holds.

import { setTimeout as pause } from "node:timers/promises";

/** How long something may take on a machine that has a lot to do, in milliseconds. */
const PATIENCE = 30_000;

/** Repeats a check until it passes, and gives what it returned; when it never does, what it threw last is thrown. */
export async function eventually(check) {
  const end = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await pause(50);
  }
}
