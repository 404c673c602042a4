//! One HTTP request to the REST API.

import { t } from "../core/texts";
import { ApiProblem } from "./problem";
import type { Method } from "./typed";

const ROOT = "/api/v1";

/** Options of a call besides its body: `etag` becomes If-Match. */
export interface Options {
  etag?: string;
  signal?: AbortSignal;
}

/** A header that makes a repeated creation take effect once. */
export function idempotencyKey(): Record<string, string> {
  return { "Idempotency-Key": crypto.randomUUID() };
}

/** Sends a request; creations get an Idempotency-Key. The response may be an error. */
export async function send(method: Method, path: string, body?: unknown, { etag, signal }: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (method === "POST") Object.assign(headers, idempotencyKey());
  if (etag) headers["If-Match"] = etag;
  const raw = body instanceof Blob || body instanceof FormData;
  if (body !== undefined && !raw) headers["content-type"] = "application/json";
  const init: RequestInit = { method, headers };
  if (body !== undefined) init.body = raw ? body : JSON.stringify(body);
  if (signal) init.signal = signal;
  return fetch(ROOT + path, init).catch((error: unknown) => {
    throw error instanceof DOMException ? error : new Error(t("common.server-unreachable"));
  });
}

/** Throws ApiProblem for an error response. */
export async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => ({}));
  throw new ApiProblem(response.status, body as ApiProblem["body"]);
}
