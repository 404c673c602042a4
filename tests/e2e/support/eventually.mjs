// Scripts render in the next frame, and servers respond with a delay: checks are repeated until they hold.

import { setTimeout as pause } from "node:timers/promises";

/** Timeout on a busy machine, in milliseconds. */
const PATIENCE = 30_000;

/** Repeats a check until it passes, and returns its result. On a timeout, throws its last error. */
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
