//! A refusal of the API: an RFC 9457 problem document, as an error.

/** One mistake; `path` is a JSON pointer into what was sent. */
export interface Problem {
  severity: "error" | "warning";
  code: string;
  path: string;
  message: string;
  line?: number;
  column?: number;
}

/** Thrown by the client for every answer that is not a success. */
export class ApiProblem extends Error {
  /** The word of `type`: `not-found`, `stale`, ... */
  readonly kind: string;

  constructor(
    readonly status: number,
    readonly body: { type?: string; title?: string; detail?: string; instance?: string; problems?: Problem[] },
  ) {
    super(body.detail ?? body.title ?? `HTTP ${status}`);
    this.name = "ApiProblem";
    this.kind = (body.type ?? "").replace("urn:cubeloom:problem:", "");
  }

  /** The mistakes, when the refusal lists them. */
  get problems(): Problem[] {
    return this.body.problems ?? [];
  }
}
