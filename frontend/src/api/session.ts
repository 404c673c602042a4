//! The session of the page's user. When it has ended, a dialog asks for the password, so that nothing typed on
//! the page is lost. This is part of every page's first script: the page may be older than the server's files.

import { askSignIn } from "../core/sign-in";
import { SignIns } from "./again";
import { accepted, send } from "./http";

const signIns = new SignIns(signInAgain);

/** Performs a request, and repeats it if the session had ended and the user has signed in again. */
export function inSession<T>(work: () => Promise<T>, hasEnded: (result: T) => boolean): Promise<T> {
  return signIns.attempt(work, hasEnded);
}

/** Waits until the user is signed in. Throws if the server is unreachable. */
export async function untilSignedIn(): Promise<void> {
  if (!signIns.declined) await inSession(() => send("GET", "/me"), ({ status }) => status === 401);
}

/** Ends the session, if it has not ended already. */
export async function signOut(): Promise<void> {
  const response = await send("DELETE", "/session");
  if (response.status !== 401) await accepted(response);
}

async function signInAgain(): Promise<boolean> {
  const { reader, provider } = document.body.dataset;
  const name = reader === undefined ? null : await askSignIn(reader, provider);
  if (name !== null && name === reader) return true;
  // The page is its user's: another user gets it from the server.
  if (name !== null) location.reload();
  else if (location.pathname !== "/sign-in") location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
  return false;
}
