// What each role sees, and what the API says to somebody who asks for more.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { flawless, launch, open, session, settled } from "./support/browser.mjs";
import { Server } from "./support/server.mjs";
import { stage } from "./support/stage.mjs";

let server;
let browser;
let there;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  there = await stage(server);
  server.user("sten");
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const starts = (page) => page.locator("main").getByRole("button", { name: /^(run|start|run again)\b/i });

test("an editor may start a run; a viewer sees no such button, and the API refuses", async () => {
  const editor = await open(browser, server, { state: await session(browser, server, "emil") });
  await editor.goto("/projects/default/pipelines/count");
  await settled(editor);
  assert.ok((await starts(editor).count()) > 0, "an editor has a button that starts a run");
  flawless(editor);

  const viewer = await open(browser, server, { state: await session(browser, server, "vera") });
  for (const path of ["/projects/default/pipelines/count", `/runs/${there.second}`, "/projects/default/runs"]) {
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
  const page = await open(browser, server, { state: await session(browser, server, "sten") });
  for (const path of ["/projects/default", "/projects/default/runs", `/runs/${there.first}`]) {
    assert.equal((await page.goto(path)).status(), 404, path);
  }
  assert.equal((await page.goto("/users")).status(), 403);
});

test("whoever is not signed in is asked to, and comes back to where they wanted to go", async () => {
  const page = await open(browser, server);
  await page.goto(`/runs/${there.first}?tab=table`);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  await page.locator("[name=name]").fill("vera");
  await page.locator("[name=password]").fill("correct horse battery");
  await page.locator("main form button.primary").first().click();
  await page.waitForURL(`**/runs/${there.first}?tab=table`);
});
