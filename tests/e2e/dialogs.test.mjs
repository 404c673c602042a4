// Every dialog of the pages: legible in both languages and themes and on a narrow screen, with the focus
// inside. Escape closes it and restores the focus.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { look, settled } from "./support/browser.mjs";
import { openEditor } from "./support/editor.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, stage, start } from "./support/stage.mjs";

// Before the server is stopped: its jobs would go on.
after(async () => {
  site.server.write("gate", "");
  await ended(site.there.api, site.there.live);
});

const site = siteFor(async (server) => {
  const there = await stage(server);
  const { api } = there;
  const bytes = { "content-type": "application/octet-stream" };
  await api("PUT", "/projects/default/volumes/workspace/file?path=notes/t.csv", "x", bytes);
  await api("PUT", "/projects/default/volumes/workspace/file?path=t.csv", "step,loss", bytes);
  await api("POST", "/projects/default/volumes", { name: "sets", place: { kind: "workspace", path: "sets" } });
  await api("POST", "/projects/default/secrets", { name: "hub-key", value: "a value of its own" });
  await api("POST", "/projects/default/registries", { name: "hub", host: "hub.example.org" });
  await api("POST", "/projects/default/pipelines/count/hooks", { name: "nightly" });
  const held = `apiVersion: cubeloom/v1\nkind: Pipeline\nname: held\ntasks: [{name: a, template: command, arguments: {command: [sh, -c, "until test -e ${server.path("gate")}; do sleep 0.2; done"]}}]\n`;
  return { ...there, live: await start(api, { document: held }) };
});

const PROJECT = "/projects/default";
const COUNT = `${PROJECT}/pipelines/count`;

/** Selectors that open a dialog, by page; a menu to open first comes before `>>>`. */
const OPENERS = (there) => ({
  "/users": ["#user-new", "#invite", "[data-user=emil] [data-do=edit]"],
  "/me": ["#token-new", "[data-revoke]"],
  "/projects": ["#new-project"],
  [PROJECT]: ["[data-member=emil] [data-remove]", "#delete-project", "#set-budget"],
  [`${PROJECT}/pipelines`]: ["[data-run=count]"],
  [COUNT]: ["#run", ".page-head summary >>> #delete"],
  [`${COUNT}?tab=versions`]: ["[data-restore]"],
  [`${COUNT}?tab=hooks`]: ["#new-hook", "[data-rotate]", "[data-delete-hook]"],
  [`/runs/${there.live}`]: ["[data-do=cancel]"],
  [`/runs/${there.broken}`]: ["[data-do=resume]", "[data-do=again]", "[data-do=delete]"],
  [`${PROJECT}/storage`]: [
    "#new-folder", "#add-volume", "#add-registry", "tr[data-file='t.csv'] [data-preview]", "tr[data-file='t.csv'] [data-remove]",
    "tr[data-file=notes] [data-remove]", "[data-remove-volume]", "[data-remove-registry]",
  ],
  [`${PROJECT}/secrets`]: ["#shared [data-add]", "#own [data-add]", "[data-replace]", "[data-delete]"],
  "/clusters": ["#add-cluster"],
  "/quotas": ["#new-group", "#what-if", "[data-edit-queue='project/default']", "#new-limit", "[data-edit-limit]", "[data-delete-limit]"],
  "/usage": ["#add-price"],
});

const LOOKS = [
  { lang: "en", theme: "light", size: "wide" },
  { lang: "zh", theme: "dark", size: "narrow" },
];

async function opened(page, opener, lang) {
  const [selector, before] = opener.split(" >>> ").reverse();
  if (before) await page.locator(before).first().click();
  const button = page.locator(selector).first();
  await button.click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  const wrong = await look(page, lang, { dialog: true });
  if (!(await dialog.evaluate((one) => one.contains(document.activeElement)))) wrong.push("the focus is not in it");
  const { width, height } = page.viewportSize();
  const box = await dialog.boundingBox();
  if (box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height) wrong.push(`it lies beyond the edge: ${JSON.stringify(box)}`);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // If the button is in a closed menu, the menu gets the focus.
  const back = before ? page.locator(before).first() : button;
  if (!(await back.evaluate((one) => one === document.activeElement || one.parentElement.contains(document.activeElement)))) wrong.push("the focus is not where it was");
  return wrong;
}

for (const options of LOOKS) {
  test(`every dialog of the pages, ${options.lang}, ${options.theme}, ${options.size}`, async () => {
    const wrong = [];
    const page = await site.open({ as: "ada", ...options });
    for (const [path, openers] of Object.entries(OPENERS(site.there))) {
      await page.goto(path);
      await settled(page);
      for (const opener of openers) wrong.push(...(await opened(page, opener, options.lang)).map((fault) => `${path} ${opener}: ${fault}`));
    }
    // The pattern of namespace names contains braces.
    wrong.splice(0, wrong.length, ...wrong.filter((fault) => !/add-cluster.*\{project\}/.test(fault)));
    await page.context().close();
    assert.deepEqual(wrong, []);
  });

  test(`the dialogs of the editor, ${options.lang}, ${options.theme}, ${options.size}`, async () => {
    const wrong = [];
    const page = await openEditor(site, "ada", `${COUNT}/edit`, options);
    const shown = async (what) => {
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      wrong.push(...(await look(page, options.lang, { dialog: true })).map((fault) => `${what}: ${fault}`));
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    };
    for (const keys of ["Control+k", "?", "/"]) {
      await page.locator(".cv-stage").focus();
      await page.keyboard.press(keys);
      await shown(keys);
    }
    await page.locator(".ed-split > button").click();
    await shown("run");
    await page.locator(".cv-stage").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Control+d");
    await page.keyboard.press("Control+s");
    await shown("save");
    await page.locator(".ed-split > button").click();
    await shown("save and run");
    await page.context().close();
    assert.deepEqual(wrong, []);
  });
}
