//! The REST API client.

import { accepted, send, type Options } from "./http";
import { inSession } from "./session";
import type { Answered, Body, Known, Method } from "./typed";

/** A response: its JSON and metadata. */
export interface Answer<T> {
  data: T;
  etag: string | null;
  response: Response;
}

/**
 * Calls an endpoint under /api/v1; if the session has ended, once more after the user has signed in again. For
 * literal paths, the path and both bodies are type-checked against the OpenAPI document. Throws ApiProblem for
 * an error response.
 */
export async function request<M extends Method, const P extends string>(
  method: M,
  path: Known<M, P>,
  body?: Body<M, P>,
  options: Options = {},
): Promise<Answer<Answered<M, P>>> {
  const response = await accepted(await inSession(() => send(method, path, body, options), ({ status }) => status === 401));
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const data = (isJson ? await response.json() : undefined) as Answered<M, P>;
  // A compressing proxy makes the ETag weak, which would never match.
  return { data, etag: response.headers.get("etag")?.replace(/^W\//, "") ?? null, response };
}
