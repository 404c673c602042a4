// A real OpenID Connect provider on loopback, with its own sign-in page.

import { createServer } from "node:http";
import Provider from "oidc-provider";

/** Users of the provider, by subject. */
const people = () => ({
  "subject-1": { name: "Erin Example", preferred_username: "erin", email: "erin@example.org", email_verified: true },
  "subject-2": { name: "Olaf Other", preferred_username: "ada", email: "ada@example.org", email_verified: true },
  "subject-3": { name: "Greta Group", preferred_username: "greta", groups: ["staff", "cubeloom-admins"] },
  "subject-4": { name: "Carl Connect", preferred_username: "carl.c" },
});

/** Starts one; `address` is the URL of the server under test, e.g. `http://127.0.0.1:40123`. */
export async function provider(address) {
  const listener = createServer();
  await new Promise((done) => listener.listen(0, "127.0.0.1", done));
  const known = people();
  const issuer = `http://127.0.0.1:${listener.address().port}`;
  const oidc = new Provider(issuer, {
    clients: [
      {
        client_id: "cubeloom",
        client_secret: "a secret of the client's",
        redirect_uris: [`${address}/sign-in/oidc/callback`],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    cookies: { keys: ["only for this test"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "preferred_username", "groups"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/who/${interaction.uid}` },
    findAccount: (_, subject) => ({ accountId: subject, claims: () => ({ sub: subject, ...known[subject] }) }),
    // Signing in implies consent.
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client.clientId,
        accountId: context.oidc.session.accountId,
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  const seen = { tokens: 0, challenges: [] };
  const handle = oidc.callback();
  listener.on("request", async (request, response) => {
    const url = new URL(request.url, issuer);
    if (url.pathname === "/auth") seen.challenges.push(url.searchParams.get("code_challenge_method"));
    if (url.pathname === "/token") seen.tokens += 1;
    if (!url.pathname.startsWith("/who/")) return handle(request, response);
    const subject = url.searchParams.get("subject");
    if (subject) {
      return oidc.interactionFinished(request, response, { login: { accountId: subject } }, { mergeWithLastSubmission: false });
    }
    const links = Object.entries(known).map(([id, person]) => `<p><a href="?subject=${id}">${person.name}</a></p>`);
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><title>Who are you?</title>${links.join("")}`);
  });
  return {
    issuer,
    people: known,
    seen,
    close: () => {
      listener.closeAllConnections();
      listener.close();
    },
  };
}
