//! The REST API client.

import { t } from "../core/texts";
import { ApiProblem } from "./problem";
import type { Answered, Body, Known, Method } from "./typed";

const ROOT = "/api/v1";

/** A header that makes a repeated creation take effect once. */
export function idempotencyKey(): Record<string, string> {
  return { "Idempotency-Key": crypto.randomUUID() };
}

async function refuse(response: Response): Promise<never> {
  if (response.status === 401 && location.pathname !== "/sign-in") {
    location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
  }
  const body: unknown = await response.json().catch(() => ({}));
  throw new ApiProblem(response.status, body as ApiProblem["body"]);
}

/** A response: its JSON and metadata. */
export interface Answer<T> {
  data: T;
  etag: string | null;
  response: Response;
}

/** Options of a call besides its body: `etag` becomes If-Match. */
export interface Options {
  etag?: string;
  signal?: AbortSignal;
}

/**
 * Calls an endpoint under /api/v1; creations get an Idempotency-Key. For literal paths, the path and both
 * bodies are type-checked against the OpenAPI document. Throws ApiProblem for an error response.
 */
export async function request<M extends Method, const P extends string>(
  method: M,
  path: Known<M, P>,
  body?: Body<M, P>,
  options: Options = {},
): Promise<Answer<Answered<M, P>>> {
  const response = await send(method, path, body, options);
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const data = (isJson ? await response.json() : undefined) as Answered<M, P>;
  // A compressing proxy makes the ETag weak, which would never match.
  return { data, etag: response.headers.get("etag")?.replace(/^W\//, "") ?? null, response };
}

async function send(method: Method, path: string, body: unknown, { etag, signal }: Options): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (method === "POST") Object.assign(headers, idempotencyKey());
  if (etag) headers["If-Match"] = etag;
  const raw = body instanceof Blob || body instanceof FormData;
  if (body !== undefined && !raw) headers["content-type"] = "application/json";
  const init: RequestInit = { method, headers };
  if (body !== undefined) init.body = raw ? body : JSON.stringify(body);
  if (signal) init.signal = signal;
  const response = await fetch(ROOT + path, init).catch((error: unknown) => {
    throw error instanceof DOMException ? error : new Error(t("common.server-unreachable"));
  });
  if (!response.ok) await refuse(response);
  return response;
}
