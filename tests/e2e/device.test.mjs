// Signing in a command line: its code, and the user's decision.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LOOKS, flawless, look, settled } from "./support/browser.mjs";
import { refused } from "./support/dialog.mjs";
import { PASSWORD } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";

const CLIENT = "cubeloom on laptop";
const ASKS = `${CLIENT} wants to act as you`;

const site = siteFor((server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("vera", "--project", "default", "--role", "viewer");
  return { token: server.token("emil") };
});

/** The codes of a new command line. */
const begin = async () => (await site.server.api(site.there.token)("POST", "/device/code", { client: CLIENT })).body;

/** The response to a command line that fetches its token. */
async function fetched(code) {
  const answer = await fetch(`${site.server.url}/api/v1/device/token`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${site.there.token}` },
    body: JSON.stringify({ device_code: code.device_code }),
  });
  return { status: answer.status, body: await answer.json() };
}

const button = (page, name) => page.locator("main").getByRole("button", { name, exact: true });

const codeField = (page) => page.locator("main").getByLabel("Code", { exact: true });

const done = (page) => page.getByText("You can go back to the command line").waitFor();

test("a command line is allowed with the keyboard, for one project, and gets its token", async () => {
  const code = await begin();
  const page = await site.open({ as: "emil" });
  await page.goto(code.verification_uri_complete);
  await settled(page);
  await page.getByRole("heading", { name: ASKS }).waitFor();
  await page.getByText("Allow only what you started yourself").waitFor();
  await page.getByText(code.user_code).waitFor();
  const form = page.locator("main form");
  assert.equal(await form.getByLabel("Scope").inputValue(), "write");
  await form.getByLabel("Scope").selectOption("run");
  await form.getByLabel("Project").selectOption("default");
  await form.getByLabel("Project").press("Tab");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Allow");
  await page.keyboard.press("Enter");
  await done(page);
  await page.getByRole("heading", { name: "Access allowed" }).waitFor();

  const { status, body } = await fetched(code);
  assert.deepEqual([status, body.user, body.scope, body.project], [201, "emil", "run", "default"]);
  const me = (await site.server.api(body.token)("GET", "/me")).body;
  assert.deepEqual([me.via, me.project], ["token", "default"]);
  flawless(page);
});

test("a code is typed, a wrong one is refused, and a command line is denied", async () => {
  const code = await begin();
  const page = await site.open({ as: "emil" });
  await page.goto("/device");
  await settled(page);
  await codeField(page).fill("BBBB-BBBB");
  await button(page, "Continue").click();
  await page.locator(".field-error", { hasText: "This code is wrong" }).waitFor();
  refused(page, 422);
  await settled(page);
  await codeField(page).fill(code.user_code.toLowerCase().replace("-", ""));
  await button(page, "Continue").click();
  await page.getByRole("heading", { name: ASKS }).waitFor();
  await button(page, "Deny").click();
  await done(page);
  await page.getByRole("heading", { name: "Access denied" }).waitFor();
  const { status, body } = await fetched(code);
  assert.deepEqual([status, body.code], [400, "access_denied"]);
  flawless(page);
});

test("somebody who is not signed in signs in, and comes back to the code", async () => {
  const code = await begin();
  const page = await site.open();
  await page.goto(code.verification_uri_complete);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  assert.equal(await page.getByText(CLIENT).count(), 0, "a stranger learns nothing about a code");
  await page.locator("[name=name]").fill("vera");
  await page.locator("[name=password]").fill(PASSWORD);
  await page.locator("main form button.primary").first().click();
  await page.waitForURL((url) => url.pathname === "/device" && url.searchParams.get("user_code") === code.user_code);
  await page.getByRole("heading", { name: ASKS }).waitFor();
  flawless(page);
});

test("it works without scripts", async () => {
  const code = await begin();
  const context = await site.browser.newContext({
    baseURL: site.server.url,
    javaScriptEnabled: false,
    locale: "en-GB",
    storageState: await site.session("emil"),
  });
  const page = await context.newPage();
  await page.goto("/device");
  await codeField(page).fill(code.user_code);
  await button(page, "Continue").click();
  await button(page, "Allow").click();
  await done(page);
  assert.equal((await fetched(code)).body.scope, "write");
});

test("each step is legible", async () => {
  const code = await begin();
  for (const options of LOOKS) {
    const page = await site.open({ as: "vera", ...options });
    for (const path of [`/device?user_code=${code.user_code}`, "/device?user_code=wrong", "/device?decided=allowed"]) {
      await page.goto(path);
      await settled(page);
      refused(page, 422);
      assert.deepEqual(await look(page, options.lang, options), [], `${path} ${JSON.stringify(options)}`);
    }
    await page.context().close();
  }
});
