//! Calls of the REST API. What an endpoint answers is typed in schema.ts, from the OpenAPI document.

import { t } from "../core/texts";
import { ApiProblem } from "./problem";

const ROOT = "/api/v1";

/** A header that lets a creation be sent twice and done once. */
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

/** What an answer has besides its JSON. */
export interface Answer<T> {
  data: T;
  etag: string | null;
  response: Response;
}

/** Calls an endpoint under /api/v1. `etag` becomes If-Match; creations get an Idempotency-Key. Throws ApiProblem for a refusal. */
export async function request<T = unknown>(
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  options: { etag?: string; signal?: AbortSignal } = {},
): Promise<Answer<T>> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (method === "POST") Object.assign(headers, idempotencyKey());
  if (options.etag) headers["If-Match"] = options.etag;
  const raw = body instanceof Blob;
  if (body !== undefined && !raw) headers["content-type"] = "application/json";
  const init: RequestInit = { method, headers };
  if (body !== undefined) init.body = raw ? body : JSON.stringify(body);
  if (options.signal) init.signal = options.signal;
  const response = await fetch(ROOT + path, init).catch((error: unknown) => {
    throw error instanceof DOMException ? error : new Error(t("common.server-unreachable"));
  });
  if (!response.ok) await refuse(response);
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const data = (isJson ? await response.json() : undefined) as T;
  return { data, etag: response.headers.get("etag"), response };
}
