// A new server: its first page, and the actions that each empty page offers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LOOKS, flawless, look, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";

const site = siteFor((server) => ({ link: server.says().match(/https?:\/\/\S+\/welcome\?token=[\w-]+/)[0] }));

/** Every language, theme and size of a page that needs no account; `mistaken`: also with invalid input. */
async function everyLook(path, mistaken) {
  for (const options of LOOKS) {
    const page = await site.open(options);
    await page.goto(path);
    await settled(page);
    assert.deepEqual(await look(page, options.lang, options), [], JSON.stringify(options));
    if (mistaken) {
      await page.locator("[name=name]").fill("Not A Name");
      await page.locator("[name=password]").fill("short");
      await page.locator("main form button.primary").last().click();
      await page.locator(".field-error").first().waitFor();
      page.faults = page.faults.filter((fault) => !fault.includes("a status of 422"));
      assert.deepEqual(await look(page, options.lang, options), [], `with mistakes, ${JSON.stringify(options)}`);
      assert.equal(await page.locator(".field-error").count(), 2);
    }
    await page.context().close();
  }
}

test("the very first page is legible, also with mistakes in it; without its link, the sign-in page says where that is", async () => {
  await everyLook(site.there.link, true);
  await everyLook("/sign-in");
  const page = await site.open();
  await page.goto("/");
  await page.getByText("No accounts yet").waitFor();
  await page.context().close();
});

test("the page of an invitation and of a lost password is legible, and so is that of a link that was used", async () => {
  site.server.user("ada", "--admin");
  site.server.user("emil", "--project", "default", "--role", "editor");
  const api = site.server.api(site.server.token("ada"));
  const invitation = (await api("POST", "/links", { kind: "invite", project: "default", role: "viewer" })).body.url;
  await everyLook(invitation, true);
  await everyLook((await api("POST", "/links", { kind: "reset", user: "emil" })).body.url);
  for (const options of LOOKS) {
    const page = await site.open(options);
    await page.goto("/link?token=nothing");
    await settled(page);
    page.faults = [];
    assert.deepEqual(await look(page, options.lang, options), []);
    await page.context().close();
  }
});

// The action of each empty page, and its target.
const EMPTY = [
  ["/", "link", "Open pipelines", /\/projects\/default\/pipelines$/],
  ["/projects/default/pipelines", "link", "New pipeline", /\/new-pipeline\/canvas$/],
  ["/projects/default/runs", "link", "Choose a pipeline and start it", /\/projects\/default\/pipelines$/],
  ["/projects/default/runs?state=failed", "link", "Show all", /\/projects\/default\/runs$/],
  ["/projects/default/storage", "button", "Upload"],
  ["/projects/default/storage", "button", "Add registry", "dialog"],
  ["/projects/default/secrets", "button", "Add secret", "dialog"],
  ["/projects/default/secrets", "button", "Add your own", "dialog"],
  ["/users", "button", "Invite", "dialog"],
  ["/users?text=nobody", "link", "Show all users", /\/users$/],
  ["/me", "button", "New token", "dialog"],
  ["/audit?user=nobody", "link", "Clear filter", /\/audit$/],
];

test("every empty page says what can be done, and that can be done from there", async () => {
  const page = await site.open({ as: "ada" });
  for (const [path, role, name, leads] of EMPTY) {
    await page.goto(path);
    await settled(page);
    const action = page.locator("main").getByRole(role, { name, exact: true }).last();
    await action.waitFor();
    if (leads === "dialog") {
      await action.click();
      await page.getByRole("dialog").waitFor();
    } else if (leads) {
      await action.click();
      await page.waitForURL(leads);
    }
    flawless(page);
  }
  await page.context().close();
});

test("every empty page is legible", async () => {
  const wrong = [];
  for (const { lang, theme, size } of [LOOKS[1], LOOKS[2]]) {
    const page = await site.open({ as: "ada", lang, theme, size });
    for (const path of [...new Set(EMPTY.map(([path]) => path))]) {
      await page.goto(path);
      await settled(page);
      wrong.push(...(await look(page, lang)).map((fault) => `${path} ${lang}: ${fault}`));
    }
    await page.context().close();
  }
  assert.deepEqual(wrong, []);
});

test("who is in no project is told whom to ask", async () => {
  site.server.user("nina");
  const page = await site.open({ as: "nina" });
  await page.goto("/");
  await page.getByText("You are not in a project yet").waitFor();
  await page.getByText(/Ask the owner of a project, or an administrator/).waitFor();
  await page.goto("/projects");
  await page.getByText("You are not in a project yet").waitFor();
  flawless(page);
  await page.context().close();
});
