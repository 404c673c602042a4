// Accounts: created by an administrator, by an invitation, and a lost password.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled, signIn } from "./support/browser.mjs";
import { dialog, fill, mistake, press, refused, shownOnce, told } from "./support/dialog.mjs";
import { PASSWORD } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";

const site = siteFor((server) => {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
  server.user("rosa", "--project", "default", "--role", "viewer");
});

const OTHER = "another good password";
const row = (page, name) => page.locator("tbody tr", { has: page.locator(`[data-user="${name}"]`) });

async function users() {
  const page = await site.open({ as: "ada" });
  await page.goto("/users");
  await settled(page);
  return page;
}

/** Opens a link without an account, and uses it. */
async function follow(link, values) {
  const page = await site.open();
  await page.goto(link);
  await fill(page.locator("main form"), values);
  await page.locator("main form button.primary").last().click();
  return page;
}

async function isGone(link) {
  const page = await site.open();
  assert.equal((await page.goto(link)).status(), 410);
  await page.getByText(/This link was used, has expired or does not exist/).waitFor();
  await page.context().close();
}

test("an administrator makes an account, whose link sets its password once", async () => {
  const ada = await users();
  await ada.getByRole("button", { name: "New account" }).click();
  await fill(dialog(ada), { Name: "Zoe Zed", "E-mail address": "zoe@example.org" });
  await press(ada, "Create account");
  await mistake(dialog(ada), "name").waitFor();
  refused(ada, 422);
  await fill(dialog(ada), { Name: "zoe", "Display name": "Zoe Zed" });
  await press(ada, "Create account");
  const link = await shownOnce(ada, "Account for zoe");
  await press(ada, "Done");
  await row(ada, "zoe").getByText("zoe@example.org").waitFor();
  await row(ada, "zoe").getByText("Zoe Zed").waitFor();
  assert.ok(!(await ada.content()).includes(new URL(link).searchParams.get("token")), "it is shown only once");

  const zoe = await follow(link, { Password: "short" });
  await zoe.getByText(/Use 10 to 1024 characters/).waitFor();
  refused(zoe, 422);
  await fill(zoe.locator("main form"), { Password: OTHER });
  await zoe.getByRole("button", { name: "Set password" }).click();
  await zoe.getByText("You are not in a project yet").waitFor();
  await isGone(link);
  flawless(zoe);

  await row(ada, "zoe").getByRole("button", { name: "Edit zoe" }).click();
  await fill(dialog(ada), { "Display name": "Zoë", "Disable sign-in": true });
  await press(ada, "Save");
  await told(ada, "Saved");
  await row(ada, "zoe").getByText("Disabled").waitFor();
  await zoe.goto("/me");
  assert.equal(new URL(zoe.url()).pathname, "/sign-in", "the session of who may not sign in has ended");
  flawless(ada);
  for (const page of [ada, zoe]) await page.context().close();
});

test("somebody who is invited makes an account of their own, and is what the link says", async () => {
  const ada = await users();
  await ada.getByRole("button", { name: "Invite" }).click();
  await fill(dialog(ada), { Note: "Ivo of the lab", Project: "default", Role: "viewer" });
  await press(ada, "Create link");
  const link = await shownOnce(ada, "Your invitation");
  await press(ada, "Done");
  const waiting = ada.locator("tbody tr", { hasText: "Ivo of the lab" });
  await waiting.getByText("Viewer").waitFor();

  const ivo = await follow(link, { Name: "emil", Password: OTHER });
  await ivo.getByText("This name is taken. Choose another one.").waitFor();
  refused(ivo, 409, 422);
  await fill(ivo.locator("main form"), { Name: "ivo", Password: OTHER });
  await ivo.getByRole("button", { name: "Create account" }).click();
  await ivo.waitForURL("**/projects/default/pipelines");
  await ivo.goto("/projects/default");
  await ivo.locator("[data-member=ivo]").getByText("Viewer").waitFor();
  assert.equal(await ivo.locator("#settings-form").count(), 0);
  flawless(ivo);

  await ada.reload();
  await row(ada, "ivo").waitFor();
  assert.equal(await waiting.count(), 0, "a link that was used is no open link");

  await ada.getByRole("button", { name: "Invite" }).click();
  await fill(dialog(ada), { Note: "nobody after all" });
  await press(ada, "Create link");
  const second = await shownOnce(ada, "Your invitation");
  await press(ada, "Done");
  await ada.locator("tbody tr", { hasText: "nobody after all" }).getByRole("button", { name: "Revoke" }).click();
  await told(ada, "The link is revoked");
  await isGone(second);
  flawless(ada);
  for (const page of [ada, ivo]) await page.context().close();
});

test("whoever has lost their password gets a link, and everything that was signed in ends", async () => {
  const [ada, before] = [await users(), await site.open({ as: "rosa" })];
  await before.goto("/me");
  await row(ada, "rosa").getByRole("button", { name: "New password" }).click();
  const link = await shownOnce(ada, "Link for rosa");
  await press(ada, "Done");
  const rosa = await follow(link, { Password: OTHER });
  await rosa.waitForURL((url) => url.pathname === "/");
  await before.reload();
  assert.equal(new URL(before.url()).pathname, "/sign-in");
  await isGone(link);

  const again = await site.open();
  await again.goto("/sign-in");
  await fill(again.locator("main form"), { Name: "rosa", Password: PASSWORD });
  await again.getByRole("button", { name: "Sign in", exact: true }).click();
  await again.getByText("Wrong name or password.").waitFor();
  refused(again, 401, 403, 422);
  await signIn(again, "rosa", OTHER);
  for (const page of [ada, before, rosa, again]) {
    flawless(page);
    await page.context().close();
  }
});

test("people are found by a part of their name or address", async () => {
  const ada = await users();
  const names = () => ada.locator("[data-user]").evaluateAll((rows) => rows.map(({ dataset }) => dataset.user));
  await ada.getByRole("searchbox", { name: "Name or address" }).fill("EMI");
  await ada.keyboard.press("Enter");
  await ada.waitForURL(/text=EMI/);
  assert.deepEqual(await names(), ["emil"]);
  await ada.goto("/users?text=nobody%20like%20this");
  await ada.getByText("No results").waitFor();
  await ada.getByRole("link", { name: "Show all users" }).click();
  await row(ada, "rosa").waitFor();
  assert.ok((await names()).length > 2);
  flawless(ada);
  await ada.context().close();
});
