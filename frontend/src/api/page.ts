//! The server's rendering of a page, from which scripts update the shown one.

import { inSession } from "./session";

/** Loads a page; null if the server refuses it or redirects. Throws if the server is unreachable. */
export async function loadPage(url: string): Promise<Document | null> {
  const response = await inSession(() => fetch(url, { headers: { accept: "text/html" } }), leadsToSignIn);
  if (!response.ok || response.redirected) return null;
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Pages of an ended session redirect there. */
function leadsToSignIn({ redirected, url }: Response): boolean {
  return redirected && new URL(url).pathname === "/sign-in";
}
