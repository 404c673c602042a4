// Secrets: added, changed and deleted, and never shown again.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { anew, dialog, fill, mistake, press, refused, told } from "./support/dialog.mjs";
import { siteFor } from "./support/site.mjs";

const site = siteFor((server) => {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
});

const FIRST = "the-first-value-of-it";
const SECOND = "the-second-value-of-it";

/** The secrets page of a user; the server's responses are searched for values. */
async function secrets(as) {
  const page = await site.open({ as });
  page.answers = [];
  page.on("response", (response) => {
    if (/\/secrets/.test(response.url())) page.answers.push(response.text().catch(() => ""));
  });
  await page.goto("/projects/default/secrets");
  await settled(page);
  return page;
}

/** No value is on the page, in the browser's storage, or in any response. */
async function nowhere(page) {
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, [...document.querySelectorAll("input, textarea")].map((one) => one.value)]));
  for (const text of [await page.content(), kept, ...(await Promise.all(page.answers))]) {
    for (const value of [FIRST, SECOND]) assert.ok(!text.includes(value), "a value is shown again");
  }
}

test("the project's: a mistake at its field, then added, changed, deleted, and its value is nowhere", async () => {
  const page = await secrets("ada");
  const shared = page.locator("#shared");
  const row = shared.locator("tr[data-name=hub-key]");
  await shared.getByRole("button", { name: "Add secret" }).click();
  await fill(dialog(page), { Name: "HUB KEY", Value: FIRST });
  await press(page, "Save");
  await mistake(dialog(page), "name").waitFor();
  assert.equal(await dialog(page).getByLabel("Value", { exact: true }).inputValue(), FIRST, "what was written is not lost");
  refused(page, 422);
  await fill(dialog(page), { Name: "hub-key", Description: "To push" });
  await anew(page, () => dialog(page).getByRole("button", { name: "Save" }).dblclick());
  await told(page, "hub-key was added");
  await row.getByText("To push").waitFor();
  await nowhere(page);

  await settled(page);
  await page.getByRole("button", { name: "Replace hub-key" }).click();
  assert.equal(await dialog(page).getByLabel("Value", { exact: true }).inputValue(), "");
  await nowhere(page);
  await fill(dialog(page), { Description: "To push and pull" });
  await anew(page, () => press(page, "Save"));
  await told(page, "hub-key was changed");
  await row.getByText("To push and pull").waitFor();
  await settled(page);
  await page.getByRole("button", { name: "Replace hub-key" }).click();
  await fill(dialog(page), { Value: SECOND });
  await anew(page, () => press(page, "Save"));
  await told(page, "hub-key was changed");
  await nowhere(page);

  const emil = await secrets("emil");
  await emil.locator("tr[data-name=hub-key]").waitFor();
  assert.equal(await emil.locator("#shared").getByRole("button").count(), 0, "an editor sees names only");
  await settled(page);
  await page.getByRole("button", { name: "Delete hub-key" }).click();
  await anew(page, () => press(page, "Delete"));
  await told(page, "hub-key was deleted");
  await page.getByText("No secrets yet").waitFor();
  for (const one of [page, emil]) {
    await nowhere(one);
    flawless(one);
    await one.context().close();
  }
});

test("one's own: nobody else sees that it is there; of two changes the second is told", async () => {
  const [emil, second] = [await secrets("emil"), await secrets("emil")];
  await emil.getByRole("button", { name: "Add your own" }).click();
  await fill(dialog(emil), { Name: "my-token", Value: FIRST });
  await press(emil, "Save");
  await told(emil, "my-token was added");
  const ada = await secrets("ada");
  assert.equal(await ada.getByText("my-token").count(), 0);

  await second.reload();
  await settled(second);
  await second.getByRole("button", { name: "Replace my-token" }).click();
  await settled(emil);
  await emil.getByRole("button", { name: "Replace my-token" }).click();
  await fill(dialog(emil), { Value: SECOND });
  await press(emil, "Save");
  await told(emil, "my-token was changed");
  await fill(dialog(second), { Description: "something else" });
  await press(second, "Save");
  await dialog(second).locator(".form-problem").waitFor();
  refused(second, 412);
  await second.keyboard.press("Escape");
  for (const one of [emil, second, ada]) {
    await nowhere(one);
    flawless(one);
    await one.context().close();
  }
});
