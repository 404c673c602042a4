// The audit log: entries can be filtered by person, action, object, address and time.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { flawless, settled } from "./support/browser.mjs";
import { siteFor } from "./support/site.mjs";

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  server.user("emil", "--project", "default", "--role", "owner");
  const [ada, emil] = ["ada", "emil"].map((name) => server.api(server.token(name)));
  await ada("POST", "/projects", { name: "lab", label: "The Lab" });
  await ada("PUT", "/projects/lab/members/emil", { role: "owner" });
  await emil("POST", "/projects/default/secrets", { name: "hub-key", value: "a value of its own" });
  const { etag } = await emil("GET", "/projects/lab");
  await emil("PATCH", "/projects/lab", { label: "The Laboratory" }, { "if-match": etag });
});

const rows = (page) => page.locator("tbody tr");
const column = (page, label) => page.locator(`tbody [data-label="${label}"]`).allInnerTexts();

async function narrowed(page, values) {
  await page.goto("/audit");
  await settled(page);
  for (const [name, value] of Object.entries(values)) {
    const field = page.locator(`form.filters [name=${name}]`);
    await (name === "project" ? field.selectOption(value) : field.fill(value));
  }
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/\?/);
  await settled(page);
}

test("each filter leaves what fits, they go together, and are taken away", async () => {
  const page = await site.open({ as: "ada" });
  await narrowed(page, { user: "emil" });
  for (const who of await column(page, "User")) assert.match(who, /^emil/);
  assert.ok((await rows(page).count()) >= 2);
  await narrowed(page, { action: "project.create" });
  assert.deepEqual(await column(page, "Action"), ["project.create"]);
  await narrowed(page, { project: "lab" });
  assert.deepEqual([...new Set(await column(page, "Project"))], ["lab"]);
  await narrowed(page, { text: "HUB-k" });
  assert.equal(await rows(page).count(), 1);
  assert.ok(!(await page.content()).includes("a value of its own"));

  await narrowed(page, { user: "emil", project: "lab" });
  assert.equal(await rows(page).count(), 1);
  const change = rows(page).first();
  assert.equal(await change.locator("del").innerText(), "The Lab");
  assert.equal(await change.locator("ins").innerText(), "The Laboratory");

  const hour = (shift) => new Date(Date.now() + shift * 3_600_000).toISOString().slice(0, 16);
  await narrowed(page, { since: hour(2) });
  await page.getByText("No results").waitFor();
  await page.getByRole("link", { name: "Clear filter" }).click();
  await page.waitForURL("**/audit");
  await narrowed(page, { until: hour(-2) });
  await page.getByText("No results").waitFor();
  await narrowed(page, { since: hour(-1), until: hour(1) });
  assert.ok((await rows(page).count()) > 3);
  await page.getByRole("link", { name: "Clear" }).click();
  await page.waitForURL("**/audit");
  flawless(page);
  await page.context().close();
});

test("the filter works with keys alone and keeps what was typed; the files have what the page has", async () => {
  const page = await site.open({ as: "ada" });
  await page.goto("/audit");
  await settled(page);
  await page.locator("form.filters [name=action]").focus();
  await page.keyboard.type("secret.");
  await page.keyboard.press("Tab");
  await page.keyboard.type("hub");
  await page.keyboard.press("Enter");
  await page.waitForURL(/action=secret\.&text=hub/);
  await settled(page);
  assert.equal(await rows(page).count(), 1);
  assert.equal(await page.locator("form.filters [name=text]").inputValue(), "hub");
  const contents = {};
  for (const [name, ending] of [["Export CSV", "csv"], ["Export JSON lines", "ndjson"]]) {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name }).focus().then(() => page.keyboard.press("Enter")),
    ]);
    assert.match(file.suggestedFilename(), new RegExp(`^audit-[-0-9]+\\.${ending}$`));
    contents[ending] = readFileSync(await file.path(), "utf8");
  }
  assert.deepEqual(contents.csv.split("\r\n").length, 3, contents.csv);
  const lines = contents.ndjson.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((line) => [line.action, line.subject]), [["secret.create", "hub-key"]]);
  flawless(page);
  await page.context().close();
});

test("the filter and an empty list fit a narrow screen, in both themes and languages", async () => {
  for (const [lang, theme] of [["en", "light"], ["zh", "dark"]]) {
    const page = await site.open({ as: "ada", lang, theme, size: "narrow" });
    for (const path of ["/audit", "/audit?user=nobody"]) {
      await page.goto(path);
      await settled(page);
      const { wide, seen } = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth,
        seen: document.documentElement.clientWidth,
      }));
      assert.ok(wide <= seen, `${path} is ${wide} wide on ${seen}`);
      for (const field of await page.locator("form.filters .input").all()) {
        const box = await field.boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= 390, `a field stands at ${box.x}, ${box.width} wide`);
      }
    }
    flawless(page);
    await page.context().close();
  }
});

test("an owner has the log of their project, and nobody else's", async () => {
  const page = await site.open({ as: "emil" });
  await page.goto("/projects/lab");
  await settled(page);
  await page.getByRole("link", { name: "Audit log" }).click();
  await page.waitForURL("**/projects/lab/audit");
  await settled(page);
  assert.deepEqual([...new Set(await column(page, "Action"))].toSorted(), ["member.put", "project.create", "project.update"]);
  assert.ok(!(await page.content()).includes("hub-key"), "what was done in another project is not shown");
  await page.locator("form.filters [name=action]").fill("member.");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/action=member/);
  assert.deepEqual([...new Set(await column(page, "Action"))], ["member.put"]);
  await page.goto("/projects/lab/audit?project=default");
  await settled(page);
  assert.ok(!(await page.content()).includes("hub-key"), "also where the address names another project");
  await page.getByRole("link", { name: "lab", exact: true }).click();
  await page.waitForURL("**/projects/lab");
  flawless(page);
  await page.context().close();
});
