//! The problems that the server finds and those that the browser finds, as one list. Pure.

import type { Problem } from "../api/problem";

/** Problems of both, each place and code once, the server's words first. `before` is what the browser found before this change. */
export function joined(server: readonly Problem[], own: readonly Problem[], before: readonly Problem[]): Problem[] {
  const [now, was] = [new Set(own.map(keyOf)), new Set(before.map(keyOf))];
  // What the browser saw and sees no longer is mended, though the server has not been asked yet.
  const left = server.filter((problem) => now.has(keyOf(problem)) || !was.has(keyOf(problem)));
  const told = new Set(left.map(keyOf));
  return [...left, ...own.filter((problem) => !told.has(keyOf(problem)))];
}

function keyOf({ code, path }: Problem): string {
  return `${code} ${path}`;
}
