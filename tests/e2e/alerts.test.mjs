// Alerts: a channel is added, tested, changed and deleted. The receiver's response is shown, the address is
// not.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { anew, dialog, fill, mistake, press, refused, told } from "./support/dialog.mjs";
import { siteFor } from "./support/site.mjs";

const heard = [];
let answer = 200;
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => { body += chunk; });
  request.on("end", () => {
    heard.push(JSON.parse(body));
    response.writeHead(answer).end(answer === 200 ? "thank you" : "not today");
  });
});
await new Promise((resolve) => { receiver.listen(0, "127.0.0.1", resolve); });
after(() => { receiver.close(); });

const site = siteFor((server) => {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "editor");
}, async () => ({ CUBELOOM_ALERTS_PRIVATE_ADDRESSES: "true" }));

test("a channel is added with a mistake, tried, changed and deleted", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/projects/default");
  await page.getByRole("link", { name: "Alerts" }).click();
  await settled(page);
  await page.getByText("No channels yet").waitFor();
  await page.getByRole("button", { name: "Add channel" }).press("Enter");
  const address = `http://127.0.0.1:${receiver.address().port}/hidden-part`;
  await fill(dialog(page), { Name: "On duty", Address: "no address", Secret: "s3cret", From: "22:00", Until: "22:00" });
  await press(page, "Save");
  await mistake(dialog(page), "address").waitFor();
  await mistake(dialog(page), "until").waitFor();
  refused(page, 422);
  await fill(dialog(page), { Address: address, From: "", Until: "" });
  await anew(page, () => press(page, "Save"));
  await told(page, "On duty was added");
  await settled(page);
  assert.ok(!(await page.content()).includes("hidden-part"), "the address is not shown whole");

  await page.getByRole("button", { name: "Send test message to On duty" }).click();
  await dialog(page).getByText("HTTP 200: thank you").waitFor();
  assert.equal(heard[0].alerts[0].kind, "test");
  await anew(page, () => page.keyboard.press("Escape"));
  answer = 503;
  await page.getByRole("button", { name: "Send test message to On duty" }).click();
  await dialog(page).getByText("HTTP 503: not today").waitFor();
  await anew(page, () => page.keyboard.press("Escape"));
  assert.deepEqual(await page.locator("[data-delivery] .tag").allTextContents(), ["failed", "delivered"]);

  await page.getByRole("button", { name: "Change On duty" }).click();
  await dialog(page).getByLabel("task pending too long").check();
  await dialog(page).getByLabel("Enabled").uncheck();
  await anew(page, () => press(page, "Save"));
  await told(page, "On duty was changed");
  await page.getByRole("cell", { name: "task pending too long" }).waitFor();
  await page.getByRole("cell", { name: "off", exact: true }).waitFor();

  const emil = await site.open({ as: "emil" });
  await emil.goto("/projects/default/alerts");
  await settled(emil);
  await emil.getByText("On duty").first().waitFor();
  assert.equal(await emil.locator("main").getByRole("button").count(), 0, "an editor looks");

  await page.getByRole("button", { name: "Delete On duty" }).click();
  await anew(page, () => press(page, "Delete"));
  await told(page, "On duty was deleted");
  await page.getByText("No channels yet").waitFor();
  for (const one of [page, emil]) {
    flawless(one);
    await one.context().close();
  }
});
