//! Two runs beside each other.

import { watchChoices } from "../run/choices";
import { drawCompared } from "../run/compared";

/** Starts the page. */
export async function start(): Promise<void> {
  watchChoices();
  await drawCompared();
}
