//! An error response of the API: an RFC 9457 problem document, as an exception.

/** One problem; `path` is a JSON pointer into the request body. */
export interface Problem {
  severity: "error" | "warning";
  code: string;
  path: string;
  message: string;
  line?: number;
  column?: number;
}

/** Thrown by the client for every unsuccessful response. */
export class ApiProblem extends Error {
  /** The last segment of `type`: `not-found`, `stale`, ... */
  readonly kind: string;

  constructor(
    readonly status: number,
    readonly body: { type?: string; title?: string; detail?: string; instance?: string; problems?: Problem[] },
  ) {
    super(body.detail ?? body.title ?? `HTTP ${status}`);
    this.name = "ApiProblem";
    this.kind = (body.type ?? "").replace("urn:cubeloom:problem:", "");
  }

  /** The individual problems, if the response lists them. */
  get problems(): Problem[] {
    return this.body.problems ?? [];
  }
}
