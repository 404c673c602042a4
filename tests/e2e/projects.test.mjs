// Projects and their members: a second person is added, promoted and removed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { dialog, fill, mistake, press, refused, told } from "./support/dialog.mjs";
import { siteFor } from "./support/site.mjs";

const site = siteFor((server) => {
  server.user("ada", "--admin");
  server.user("emil");
  return { api: server.api(server.token("ada")) };
});

async function open(as, path) {
  const page = await site.open({ as });
  await page.goto(path);
  await settled(page);
  return page;
}

test("a project is made, somebody is let in, gets another role, and goes; then the project goes", async () => {
  const [ada, emil] = [await open("ada", "/projects"), await open("emil", "/projects")];
  await emil.getByText("You are not in a project yet").waitFor();
  assert.equal(await emil.getByRole("button", { name: "New project" }).count(), 0);

  await ada.getByRole("button", { name: "New project" }).click();
  await fill(dialog(ada), { Name: "The Lab" });
  await press(ada, "Create");
  await mistake(dialog(ada), "name").waitFor();
  refused(ada, 422);
  await fill(dialog(ada), { Name: "lab", "Display name": "The Lab", Description: "Looking into things" });
  await press(ada, "Create");
  await ada.waitForURL("**/projects/lab");
  await ada.getByRole("heading", { name: "The Lab", level: 1 }).waitFor();

  const adding = ada.locator("#add-member");
  await fill(adding, { "User name": "nobody", Role: "viewer" });
  await adding.getByRole("button", { name: "Add" }).click();
  await mistake(adding, "user").waitFor();
  refused(ada, 404, 422);
  await fill(adding, { "User name": "emil", Role: "viewer" });
  await adding.getByRole("button", { name: "Add" }).click();
  await told(ada, "emil is a member now");
  await emil.reload();
  await emil.getByRole("link", { name: /The Lab/ }).first().waitFor();
  await emil.goto("/projects/lab/pipelines");
  assert.equal(await emil.getByRole("link", { name: "New pipeline" }).count(), 0, "a viewer makes no pipelines");

  await ada.getByLabel("Role of emil").selectOption("editor");
  await told(ada, "The role was changed");
  await emil.reload();
  await emil.getByRole("link", { name: "New pipeline" }).first().waitFor();

  await fill(ada.locator("#settings-form"), { "Display name": "The Laboratory" });
  await ada.locator("#settings-form button").click();
  await told(ada, "Saved");
  await ada.getByRole("heading", { name: "The Laboratory", level: 1 }).waitFor();

  await ada.getByRole("button", { name: "Remove emil" }).click();
  await press(ada, "Remove");
  await told(ada, "emil is no longer a member");
  assert.equal((await emil.reload()).status(), 404);
  refused(emil, 404);

  await ada.locator("#delete-project").click();
  const yes = dialog(ada).getByRole("button", { name: "Delete project" });
  await dialog(ada).getByRole("textbox").fill("la");
  assert.ok(await yes.isDisabled(), "its name has to be typed");
  await dialog(ada).getByRole("textbox").fill("lab");
  await yes.click();
  await told(ada, "The project lab was deleted");
  assert.equal(new URL(ada.url()).pathname, "/projects");
  assert.equal(await ada.locator("main").getByText("The Laboratory").count(), 0);
  for (const page of [ada, emil]) {
    flawless(page);
    await page.context().close();
  }
});

test("a project that has pipelines is not deleted, and its owner is told why", async () => {
  const { api } = site.there;
  await api("POST", "/projects", { name: "kept" });
  const document = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: one\ntasks: [{name: a, template: command, arguments: {command: ['true']}}]\n";
  await api("POST", "/projects/kept/pipelines", { document });
  const page = await open("ada", "/projects/kept");
  await page.locator("#delete-project").click();
  await dialog(page).getByRole("textbox").fill("kept");
  await page.keyboard.press("Enter");
  await page.locator(".toast[data-kind=error]", { hasText: /pipeline/ }).waitFor();
  refused(page, 409);
  await page.reload();
  await page.getByRole("heading", { name: "kept", level: 1 }).waitFor();
  flawless(page);
  await page.context().close();
});

test("of two who change a role the second is told, and sees what holds", async () => {
  const { api } = site.there;
  await api("POST", "/projects", { name: "shared" });
  await api("PUT", "/projects/shared/members/emil", { role: "viewer" });
  const page = await open("ada", "/projects/shared");
  await api("PUT", "/projects/shared/members/emil", { role: "owner" }, { "if-match": "*" });
  const role = page.getByLabel("Role of emil");
  await role.selectOption("editor");
  await page.locator(".toast[data-kind=error]").waitFor();
  assert.equal(await role.inputValue(), "viewer", "what was not done is not shown as done");
  refused(page, 412);
  await page.reload();
  assert.equal(await page.getByLabel("Role of emil").inputValue(), "owner");
  flawless(page);
  await page.context().close();
});
