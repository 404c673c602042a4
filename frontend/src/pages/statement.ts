//! A statement: it can be printed.

import { need } from "../core/dom";

/** Starts the page. */
export function start(): void {
  need("#print").addEventListener("click", () => { print(); });
}
