// The account page: tokens, password, sessions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled, signIn } from "./support/browser.mjs";
import { dialog, fill, mistake, press, refused, shownOnce, told } from "./support/dialog.mjs";
import { PASSWORD } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";

const site = siteFor((server) => {
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("rosa");
});

const OTHER = "another good password";

async function me(as) {
  const page = await site.open(as === undefined ? {} : { as });
  if (as === undefined) await signIn(page, "rosa");
  await page.goto("/me");
  await settled(page);
  return page;
}

test("a token is made, shown once, copied, used, and revoked", async () => {
  const page = await me("emil");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const asked = (token) => fetch(`${site.server.url}/api/v1/projects`, { headers: { authorization: `Bearer ${token}` } });
  await page.getByRole("button", { name: "New token" }).click();
  await press(page, "Create token");
  await mistake(dialog(page), "name").waitFor();
  refused(page, 422);
  await fill(dialog(page), { Name: "nightly training", Scope: "read", Project: "default", "Valid for": "7" });
  await press(page, "Create token");
  const token = await shownOnce(page, "Your new token");
  assert.match(token, /^clt_/);
  await dialog(page, "Your new token").getByRole("button", { name: "Copy" }).click();
  await page.locator("[data-copy] use[href='#i-check']").waitFor({ state: "attached" });
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), token);
  assert.equal((await asked(token)).status, 200);
  await press(page, "Done");

  const row = page.locator("tbody tr", { hasText: "nightly training" });
  await row.getByText("Read only").waitFor();
  await row.getByText(/in [67] days|in \d+ h/).waitFor();
  assert.ok(!(await page.content()).includes(token), "nobody sees it again");
  await row.getByRole("button", { name: "Revoke" }).click();
  await dialog(page).getByText("Programs that use the token nightly training").waitFor();
  await press(page, "Revoke");
  await told(page, "The token is revoked");
  assert.equal(await row.count(), 0);
  assert.equal((await asked(token)).status, 401);
  flawless(page);
  await page.context().close();
});

test("the profile is changed, and of two who change it the second is told", async () => {
  const [first, second] = [await me("emil"), await me("emil")];
  await fill(first.locator("#profile-form"), { "Display name": "Emil E.", "E-mail address": "no address" });
  await first.locator("#profile-form button").click();
  await mistake(first.locator("#profile-form"), "email").waitFor();
  refused(first, 422);
  await fill(first.locator("#profile-form"), { "E-mail address": "emil@example.org" });
  await first.locator("#profile-form button").click();
  await told(first, "Saved");
  await first.locator(".side-foot").getByText("Emil E.").waitFor();
  await fill(second.locator("#profile-form"), { "Display name": "somebody else" });
  await second.locator("#profile-form button").click();
  await second.locator("#profile-form .form-problem").waitFor();
  refused(second, 412);
  for (const page of [first, second]) {
    flawless(page);
    await page.context().close();
  }
});

test("mail about one's runs is switched off by the keyboard, and stays off", async () => {
  const page = await me("emil");
  const box = page.getByLabel("E-mail about your runs");
  assert.ok(await box.isChecked(), "it is on until somebody switches it off");
  await box.focus();
  await page.keyboard.press("Space");
  await page.locator("#profile-form button").press("Enter");
  await told(page, "Saved");
  await settled(page);
  assert.ok(!(await box.isChecked()));
  flawless(page);
  await page.context().close();
});

test("a session is ended from another, and a new password ends all others", async () => {
  const [here, there] = [await me(), await me()];
  await here.reload();
  assert.equal(await here.locator("[data-end-session]").count(), 1);
  await here.getByText("This browser").waitFor();
  await here.locator("[data-end-session]").click();
  await told(here, "Session signed out");
  assert.equal(await here.locator("[data-end-session]").count(), 0);
  await there.reload();
  assert.equal(new URL(there.url()).pathname, "/sign-in");

  await signIn(there, "rosa");
  const form = here.locator("#password-form");
  const change = async (current, password) => {
    await fill(form, { "Current password": current, "New password": password });
    await form.getByRole("button").click();
  };
  await change("not my password", OTHER);
  await mistake(form, "current").waitFor();
  await change(PASSWORD, "short");
  await mistake(form, "password").waitFor();
  assert.equal(await mistake(form, "current").count(), 0, "the mistake before is gone");
  refused(here, 422);
  await change(PASSWORD, OTHER);
  await told(here, "The password is changed");
  await here.reload();
  await here.locator("#password-form").waitFor();
  await there.goto("/me");
  assert.equal(new URL(there.url()).pathname, "/sign-in");
  await signIn(there, "rosa", OTHER);
  for (const page of [here, there]) {
    flawless(page);
    await page.context().close();
  }
});

test("signing out ends the session, and what was there is not shown again", async () => {
  const page = await me("emil");
  const kept = await page.context().storageState();
  await page.locator(".side-foot summary").click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
  await page.context().addCookies(kept.cookies);
  await page.goto("/me");
  assert.equal(new URL(page.url()).pathname, "/sign-in", "the cookie of a session that has ended is worth nothing");
  await page.context().close();
});
