//! A refusal with 412: somebody else was faster.

import type { ApiProblem } from "../api/problem";

/** Lines that follow each other, as the API has them. */
export interface Hunk {
  kind: "equal" | "removed" | "added";
  text: string;
}

/** What a refusal with 412 holds beside the usual. */
export interface Stale {
  present: { version: number; user: string; message: string; created_at: string; document: string };
  difference: { theirs?: { hunks: Hunk[] }; yours: { hunks: Hunk[] }; merged?: { document: string; conflicts: number } };
}

/** What a refusal says, when it is one of this kind. */
export function staleOf(problem: ApiProblem): Stale | null {
  return problem.status === 412 && "present" in problem.body ? (problem.body as unknown as Stale) : null;
}
