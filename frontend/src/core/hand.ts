//! Downloads of what the page itself has made.

import { h } from "./dom";

/** Downloads a text or a blob as a file. */
export function hand(name: string, content: string | Blob, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => { URL.revokeObjectURL(url); }, 1000);
}
