// A session that ends while a page is open: the page asks for the password in place, and goes on.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled, signIn } from "./support/browser.mjs";
import { dialog, fill, mistake, press, refused, told } from "./support/dialog.mjs";
import { field, ready, save } from "./support/editor.mjs";
import { PASSWORD } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(stage);

const EDITOR = "/projects/default/pipelines/count/edit";
const TITLE = "Your session has ended";
const again = (page) => dialog(page, TITLE);
const description = (page) => field(page, "/description").getByRole("textbox").first();

/** A page with a session of its own, which the test may end. */
async function opened(path, options) {
  const page = await site.open(options);
  await signIn(page, "emil");
  await page.goto(path);
  await settled(page);
  await page.evaluate(() => { window.notReloaded = true; });
  return page;
}

const stays = (page) => page.evaluate(() => window.notReloaded === true);

/** Ends the session on the server; open event streams end with it. */
async function end(page) {
  const answer = await page.context().request.delete("/api/v1/session", { headers: { origin: site.server.url } });
  assert.equal(answer.status(), 204);
}

/** Removes the browser's cookie: nothing happens until the next request. */
const forget = (page) => page.context().clearCookies({ name: "session" });

async function signInAgain(page, password = PASSWORD) {
  await fill(again(page), { Password: password });
  await press(page, "Sign in");
}

test("the editor asks for the password, keeps what was typed, and hears of others again", async () => {
  const page = await opened(EDITOR);
  await ready(page);
  await description(page).fill("typed before the session ended");
  await end(page);
  await again(page).waitFor();
  assert.equal(await again(page).getByLabel("Name", { exact: true }).inputValue(), "emil");
  assert.deepEqual((await look(page, "en", { dialog: true })).filter((fault) => !fault.includes("401")), []);

  await signInAgain(page, "not the password");
  await mistake(again(page), "password").waitFor();
  await signInAgain(page);
  await again(page).waitFor({ state: "detached" });
  assert.equal(await description(page).inputValue(), "typed before the session ended");
  await save(page, "after the session");
  const { api } = site.there;
  const { body, etag } = await api("GET", "/projects/default/pipelines/count");
  assert.match(body.document, /typed before the session ended/);

  // The event stream has reconnected by itself.
  const document = body.document.replace("typed before the session ended", "by somebody else");
  await api("PUT", "/projects/default/pipelines/count", { document, message: "theirs" }, { "if-match": etag });
  await page.locator(".ed-banner", { hasText: "theirs" }).waitFor();
  assert.ok(await stays(page), "the page was not loaded again");
  refused(page, 401);
  flawless(page);
  await page.context().close();
});

test("a form behind the dialog is sent once more, with all that was filled in", async () => {
  const page = await opened("/projects/default/secrets");
  await page.locator("#own [data-add]").click();
  await fill(dialog(page), { Name: "kept", Value: "a value of its own" });
  await forget(page);
  await dialog(page).locator("button[type=submit]").click();
  await again(page).waitFor();
  assert.deepEqual((await look(page, "en", { dialog: true })).filter((fault) => !fault.includes("401")), []);
  await signInAgain(page);
  await page.locator("#own").getByText("kept").waitFor();
  const { body } = await site.server.api(site.server.token("emil"))("GET", "/me/secrets");
  assert.deepEqual(body.items.map(({ name }) => name), ["kept"]);
  refused(page, 401);
  flawless(page);
  await page.context().close();
});

test("who dismisses the dialog goes to the sign-in page, and comes back from there", async () => {
  const page = await opened("/projects/default/pipelines/count?tab=versions");
  await forget(page);
  await page.locator("[data-restore]").first().click();
  await press(page, "Restore");
  await again(page).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/sign-in\?next=/);
  assert.equal(new URL(page.url()).searchParams.get("next"), "/projects/default/pipelines/count?tab=versions");
  refused(page, 401);
  flawless(page);
  await page.context().close();
});

test("signing out needs no password, even if the session has ended", async () => {
  const page = await opened("/me");
  await forget(page);
  await page.locator(".side-foot summary").click();
  await page.locator(".side-foot").getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in$/);
  refused(page, 401);
  flawless(page);
  await page.context().close();
});

for (const options of [{ lang: "zh", theme: "dark", size: "narrow" }, { lang: "en", theme: "dark", size: "narrow" }]) {
  test(`on a phone the dialog is legible, ${options.lang}`, async () => {
    const page = await opened("/me", options);
    await forget(page);
    await page.locator("#profile-form button").click();
    const shown = page.getByRole("dialog");
    await shown.waitFor();
    assert.deepEqual((await look(page, options.lang, { dialog: true })).filter((fault) => !fault.includes("401")), []);
    await shown.locator("input[type=password]").fill(PASSWORD);
    await page.keyboard.press("Enter");
    await shown.waitFor({ state: "detached" });
    if (options.lang === "en") await told(page, "Saved");
    refused(page, 401);
    flawless(page);
    await page.context().close();
  });
}
