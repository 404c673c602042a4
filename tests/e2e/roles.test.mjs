// What each role sees, and the API's errors for missing permissions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";
import { stage } from "./support/stage.mjs";

const site = siteFor(async (server) => {
  const there = await stage(server);
  server.user("sten");
  return there;
});

const starts = (page) => page.locator("main").getByRole("button", { name: /^(run|start|rerun)\b/i });

test("an editor may start a run; a viewer sees no such button, and the API refuses", async () => {
  const editor = await site.open({ as: "emil" });
  await editor.goto("/projects/default/pipelines/count");
  await settled(editor);
  assert.ok((await starts(editor).count()) > 0, "an editor has a button that starts a run");
  flawless(editor);

  const viewer = await site.open({ as: "vera" });
  for (const path of ["/projects/default/pipelines/count", `/runs/${site.there.second}`, "/projects/default/runs"]) {
    await viewer.goto(path);
    await settled(viewer);
    assert.equal(await starts(viewer).count(), 0, `${path} offers a viewer what they may not do`);
  }
  flawless(viewer);
  const answer = await viewer.evaluate(async () => {
    const answer = await fetch("/api/v1/projects/default/runs", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ pipeline: "count" }),
    });
    return { status: answer.status, problem: await answer.json() };
  });
  assert.equal(answer.status, 403);
  assert.equal(answer.problem.type, "urn:cubeloom:problem:forbidden");
});

test("whoever is no member is told that there is nothing", async () => {
  const page = await site.open({ as: "sten" });
  for (const path of ["/projects/default", "/projects/default/runs", `/runs/${site.there.first}`]) {
    assert.equal((await page.goto(path)).status(), 404, path);
  }
  assert.equal((await page.goto("/users")).status(), 403);
});

test("whoever is not signed in is asked to, and comes back to where they wanted to go", async () => {
  const page = await site.open();
  await page.goto(`/runs/${site.there.first}?tab=table`);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  await page.locator("[name=name]").fill("vera");
  await page.locator("[name=password]").fill("correct horse battery");
  await page.locator("main form button.primary").first().click();
  await page.waitForURL(`**/runs/${site.there.first}?tab=table`);
});
