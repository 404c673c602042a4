// Signing in through OpenID Connect, with a real provider.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, test } from "node:test";

import { open, signIn } from "./support/browser.mjs";
import { anew, refused, told } from "./support/dialog.mjs";
import { provider } from "./support/provider.mjs";
import { PASSWORD } from "./support/server.mjs";
import { settled } from "./support/settled.mjs";
import { siteFor } from "./support/site.mjs";

/** A free port. */
async function freePort() {
  const listener = createServer();
  await new Promise((done) => listener.listen(0, "127.0.0.1", done));
  const { port } = listener.address();
  await new Promise((done) => listener.close(done));
  return port;
}

let issuer;

const site = siteFor(
  (server) => {
    server.user("ada", "--admin");
    server.user("carl");
    server.user("dora");
  },
  async () => {
    // The provider must know the server's address.
    const listen = `127.0.0.1:${await freePort()}`;
    issuer = await provider(`http://${listen}`);
    return {
      CUBELOOM_SERVER_LISTEN: listen,
      CUBELOOM_OIDC_ISSUER: issuer.issuer,
      CUBELOOM_OIDC_CLIENT_ID: "cubeloom",
      CUBELOOM_OIDC_CLIENT_SECRET: "a secret of the client's",
      CUBELOOM_OIDC_NAME: "The Example",
      CUBELOOM_OIDC_AUTO_CREATE: "true",
      CUBELOOM_OIDC_ADMIN_GROUP: "cubeloom-admins",
    };
  },
);

after(() => issuer?.close());

async function through(page, person) {
  await page.goto("/sign-in");
  await page.locator('[href^="/sign-in/oidc"]').click();
  await page.getByRole("link", { name: person }).click();
  await page.waitForURL((url) => url.origin === site.server.url);
}

const me = (page) => page.evaluate(async () => (await (await fetch("/api/v1/me")).json()).user);

test("somebody new is given an account, and the same one the next time", async () => {
  const page = await site.open();
  await through(page, "Erin Example");
  const first = await me(page);
  assert.equal(first.name, "erin");
  assert.equal(first.admin, false, "a provider makes nobody an administrator by itself");
  const again = await site.open();
  await through(again, "Erin Example");
  assert.equal((await me(again)).id, first.id);
  assert.deepEqual([...new Set(issuer.seen.challenges)], ["S256"]);
  assert.equal(issuer.seen.tokens, 2);
});

test("a name that is taken here is not handed to whoever has it there", async () => {
  const page = await site.open();
  await through(page, "Olaf Other");
  const olaf = await me(page);
  assert.equal(olaf.admin ?? false, false, "the provider's `ada` is not the administrator `ada`");
});

test("an answer that was not asked for is refused", async () => {
  const page = await site.open();
  const answer = await page.goto("/sign-in/oidc/callback?code=stolen&state=made-up");
  assert.ok(answer.status() >= 400 || new URL(page.url()).pathname === "/sign-in", `${answer.status()} ${page.url()}`);
  assert.equal((await page.request.get("/api/v1/me")).status(), 401);
});

test("whoever is in the provider's group administers, for as long as they are in it", async () => {
  const page = await site.open();
  await through(page, "Greta Group");
  assert.equal((await me(page)).admin, true);
  assert.equal((await page.goto("/users")).status(), 200);
  issuer.people["subject-3"].groups = ["staff"];
  const later = await site.open();
  await through(later, "Greta Group");
  assert.equal((await me(later)).admin, false);
  assert.equal((await later.goto("/users")).status(), 403);
  const api = site.server.api(site.server.token("ada"));
  const { body } = await api("GET", "/audit?action=user.update&limit=1");
  assert.deepEqual([body.items[0].before.admin, body.items[0].after.admin], [true, false]);
});

const connecting = (page) => page.locator("#connect-form");

async function goThere(page, password = PASSWORD) {
  await page.goto("/me");
  // Before its script has started, the form would be submitted as a plain one.
  await settled(page);
  await connecting(page).locator("[name=current]").fill(password);
  await connecting(page).locator("button").click();
}

test("somebody who is signed in connects their account, signs in by either, and disconnects", async () => {
  const page = await site.open();
  await signIn(page, "carl");
  const carl = (await me(page)).id;
  await goThere(page, "not the password");
  await page.locator("#connect-form .field-error").waitFor();
  await goThere(page);
  await page.getByRole("link", { name: "Carl Connect" }).click();
  await page.waitForURL((url) => url.origin === site.server.url && url.pathname === "/me");
  await page.locator("#disconnect").waitFor();
  assert.equal((await me(page)).issuer, issuer.issuer);

  const there = await site.open();
  await through(there, "Carl Connect");
  assert.equal((await me(there)).id, carl);
  const here = await site.open();
  await signIn(here, "carl");
  assert.equal((await me(here)).id, carl);

  await page.locator("#disconnect").click();
  await page.locator("dialog[open] button.danger").click();
  await connecting(page).waitFor();
  const other = await site.open();
  await through(other, "Carl Connect");
  assert.notEqual((await me(other)).id, carl, "the provider's Carl is nobody here any more, and made anew");
});

test("an account at the provider that is somebody's here is not given to somebody else", async () => {
  const page = await site.open();
  await signIn(page, "dora");
  await goThere(page);
  const answer = page.waitForResponse((response) => response.url().includes("/sign-in/oidc/callback"));
  await page.getByRole("link", { name: "Erin Example" }).click();
  assert.equal((await answer).status(), 409);
  assert.match(await page.locator("main").innerText(), /belongs to another user/);
  const dora = await me(page);
  assert.deepEqual([dora.name, dora.issuer], ["dora", undefined]);
});

test("what somebody else began in another browser connects nobody", async () => {
  // Dora leaves for the provider, and returns as another user.
  const page = await site.open();
  await signIn(page, "dora");
  await goThere(page);
  await page.getByRole("link", { name: "Olaf Other" }).waitFor();
  const back = await page.context().newPage();
  await back.goto(`${site.server.url}/me`);
  await back.evaluate(() => fetch("/api/v1/session", { method: "DELETE" }));
  await back.goto(`${site.server.url}/sign-in`);
  await signIn(back, "carl");
  const answer = page.waitForResponse((response) => response.url().includes("/sign-in/oidc/callback"));
  await page.getByRole("link", { name: "Olaf Other" }).click();
  assert.equal((await answer).status(), 400);
  for (const name of ["dora", "carl"]) {
    const { body } = await site.server.api(site.server.token("ada"))("GET", `/users/${name}`);
    assert.equal(body.issuer, undefined);
  }
  // A token client has no browser to return to.
  const token = site.server.api(site.server.token("dora"));
  await assert.rejects(token("POST", "/me/provider", { current: PASSWORD }), /409/);
});

const again = (page) => page.getByRole("dialog", { name: "Your session has ended" });

/** Sends the profile of a page whose session has ended, and signs in on the tab that the dialog opens. */
async function elsewhere(page, person) {
  await page.context().clearCookies();
  await page.locator("#profile-form [name=display_name]").fill("Typed before");
  await page.locator("#profile-form button").click();
  await again(page).getByRole("button", { name: "Continue" }).click();
  await again(page).getByText("You are not signed in yet").waitFor();
  const opening = page.context().waitForEvent("page");
  await again(page).getByRole("link", { name: "Sign in with The Example" }).click();
  const tab = await opening;
  await tab.getByRole("link", { name: person }).click();
  await tab.waitForURL((url) => url.origin === site.server.url);
}

test("a session that ends on a page goes on after a sign-in at the provider, on another tab", async () => {
  const page = await site.open();
  await through(page, "Erin Example");
  await page.goto("/me");
  await settled(page);
  await elsewhere(page, "Erin Example");
  await again(page).getByRole("button", { name: "Continue" }).click();
  await told(page, "Saved");
  const { name, display_name: shown } = await me(page);
  assert.deepEqual([name, shown], ["erin", "Typed before"]);
  refused(page, 401);
  assert.deepEqual(page.faults, []);
});

test("who signs in as another user gets that user's page, and sends nothing of the former", async () => {
  const page = await site.open();
  await through(page, "Erin Example");
  await page.goto("/me");
  await settled(page);
  await elsewhere(page, "Greta Group");
  await anew(page, () => again(page).getByRole("button", { name: "Continue" }).click());
  const { name, display_name: shown } = await me(page);
  assert.deepEqual([name, shown], ["greta", "Greta Group"]);
  await page.locator(".side-foot").getByText("Greta Group").waitFor({ state: "attached" });
  refused(page, 401);
  assert.deepEqual(page.faults, []);
});
