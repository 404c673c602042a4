// Signing in through OpenID Connect, with a real provider.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, test } from "node:test";

import { launch, open } from "./support/browser.mjs";
import { provider } from "./support/provider.mjs";
import { Server } from "./support/server.mjs";

let server;
let browser;
let issuer;

/** A port that is free now: the provider has to know where the server will be. */
async function freePort() {
  const listener = createServer();
  await new Promise((done) => listener.listen(0, "127.0.0.1", done));
  const { port } = listener.address();
  await new Promise((done) => listener.close(done));
  return port;
}

before(async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  issuer = await provider(`http://${listen}`);
  [server, browser] = await Promise.all([
    Server.start({
      CUBELOOM_SERVER_LISTEN: listen,
      CUBELOOM_OIDC_ISSUER: issuer.issuer,
      CUBELOOM_OIDC_CLIENT_ID: "cubeloom",
      CUBELOOM_OIDC_CLIENT_SECRET: "a secret of the client's",
      CUBELOOM_OIDC_NAME: "The Example",
      CUBELOOM_OIDC_AUTO_CREATE: "true",
    }),
    launch(),
  ]);
  server.user("ada", "--admin");
});

after(async () => {
  await browser?.close();
  await server?.stop();
  issuer?.close();
});

async function through(page, person) {
  await page.goto("/sign-in");
  await page.locator('[href^="/sign-in/oidc"]').click();
  await page.getByRole("link", { name: person }).click();
  await page.waitForURL((url) => url.origin === server.url);
}

const me = (page) => page.evaluate(async () => (await (await fetch("/api/v1/me")).json()).user);

test("somebody new is given an account, and the same one the next time", async () => {
  const page = await open(browser, server);
  await through(page, "Erin Example");
  const first = await me(page);
  assert.equal(first.name, "erin");
  assert.equal(first.admin, false, "a provider makes nobody an administrator by itself");
  const again = await open(browser, server);
  await through(again, "Erin Example");
  assert.equal((await me(again)).id, first.id);
  assert.deepEqual([...new Set(issuer.seen.challenges)], ["S256"]);
  assert.equal(issuer.seen.tokens, 2);
});

test("a name that is taken here is not handed to whoever has it there", async () => {
  const page = await open(browser, server);
  await through(page, "Olaf Other");
  const olaf = await me(page);
  assert.equal(olaf.admin ?? false, false, "the provider's `ada` is not the administrator `ada`");
});

test("an answer that was not asked for is refused", async () => {
  const page = await open(browser, server);
  const answer = await page.goto("/sign-in/oidc/callback?code=stolen&state=made-up");
  assert.ok(answer.status() >= 400 || new URL(page.url()).pathname === "/sign-in", `${answer.status()} ${page.url()}`);
  assert.equal((await page.request.get("/api/v1/me")).status(), 401);
});
