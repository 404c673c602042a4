//! Comparison of two runs.

import { watchChoices } from "../run/choices";
import { drawCompared } from "../run/compared";

export async function start(): Promise<void> {
  watchChoices();
  await drawCompared();
}
