//! A printable statement.

import { need } from "../core/dom";

export function start(): void {
  need("#print").addEventListener("click", () => { print(); });
}
