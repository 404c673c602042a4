//! The error 412: a conflicting change.

import type { ApiProblem } from "../api/problem";

/** Consecutive lines, as in the API. */
export interface Hunk {
  kind: "equal" | "removed" | "added";
  text: string;
}

/** The additional fields of an error 412. */
export interface Stale {
  present: { version: number; user: string; message: string; created_at: string; document: string };
  difference: { theirs?: { hunks: Hunk[] }; yours: { hunks: Hunk[] }; merged?: { document: string; conflicts: number } };
}

/** The fields of an error, if it is a 412. */
export function staleOf(problem: ApiProblem): Stale | null {
  return problem.status === 412 && "present" in problem.body ? (problem.body as unknown as Stale) : null;
}
