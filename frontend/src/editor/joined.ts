//! Merges the problems found by the server and by the browser into one list. Pure.

import type { Problem } from "../api/problem";

/**
 * Problems of both, once per path and code, preferring the server's messages. `before` is the browser's
 * result before this change.
 */
export function joined(server: readonly Problem[], own: readonly Problem[], before: readonly Problem[]): Problem[] {
  const [now, was] = [new Set(own.map(keyOf)), new Set(before.map(keyOf))];
  // A problem that the browser no longer finds is fixed, though the server has not checked yet.
  const left = server.filter((problem) => now.has(keyOf(problem)) || !was.has(keyOf(problem)));
  const told = new Set(left.map(keyOf));
  return [...left, ...own.filter((problem) => !told.has(keyOf(problem)))];
}

function keyOf({ code, path }: Problem): string {
  return `${code} ${path}`;
}
