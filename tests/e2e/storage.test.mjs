// The files, volumes and registries of a project: upload, preview, removal.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { dialog, fill, mistake, press, refused, told } from "./support/dialog.mjs";
import { eventually } from "./support/eventually.mjs";
import { siteFor } from "./support/site.mjs";

const VOLUME = "/projects/default/volumes/workspace";
const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADElEQVR4nGNg+A+EAAYAAf+T0eSJAAAAAElFTkSuQmCC", "base64");
/** Tries what a foreign page must not do. */
const PAGE = `<p id="p">nothing yet</p><script>
  let found = "";
  try { found = parent.document.title; } catch { found += "no parent, "; }
  try { found += document.cookie; } catch { found += "no cookies, "; }
  fetch("/api/v1/me").then(() => "the API", () => "no API").then((more) => { document.getElementById("p").textContent = found + more; });
</script>`;

const site = siteFor(async (server) => {
  server.user("ada", "--admin");
  const api = server.api(server.token("ada"));
  await api("POST", "/projects/default/secrets", { name: "hub-password", value: "a value of its own" });
  return { api };
});

const file = (name, content) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) });
const row = (page, path) => page.locator(`tr[data-file="${path}"]`);

async function open(query = "") {
  const page = await site.open({ as: "ada" });
  await page.goto(`/projects/default/storage${query}`);
  await settled(page);
  return page;
}

/** Waits for the page to reload after a change. */
async function changed(page, words) {
  await told(page, words);
  await settled(page);
}

test("files are brought, with their progress; one that is there is replaced only when somebody says so", async () => {
  const page = await open();
  await page.getByText("This folder is empty").waitFor();
  await page.evaluate(() => {
    const words = new MutationObserver(() => {
      const line = document.querySelector(".files-upload-words");
      const seen = JSON.parse(sessionStorage.getItem("seen") ?? "[]");
      if (line) sessionStorage.setItem("seen", JSON.stringify([...seen, line.textContent]));
    });
    words.observe(document.querySelector("#uploads"), { subtree: true, childList: true, characterData: true });
  });
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 2_000_000 });
  await page.locator("#chosen").setInputFiles(file("large.bin", Buffer.alloc(2_000_000)));
  await page.getByRole("progressbar", { name: "large.bin" }).waitFor();
  await changed(page, "large.bin was uploaded");
  const seen = await page.evaluate(() => JSON.parse(sessionStorage.getItem("seen")).map((line) => Number(/(\d+) %/.exec(line)?.[1])));
  assert.ok(seen.some((percent) => percent > 0 && percent < 100), `how far it was is shown: ${seen}`);
  assert.deepEqual(seen, seen.toSorted((a, b) => a - b));

  // A stopped upload leaves no file.
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 });
  await page.locator("#chosen").setInputFiles(file("stopped.bin", Buffer.alloc(5_000_000)));
  await page.locator(".files-upload").getByRole("button", { name: "Stop" }).click();
  await page.locator(".files-upload").waitFor({ state: "detached" });
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await page.reload();
  await row(page, "large.bin").waitFor();
  assert.equal(await row(page, "stopped.bin").count(), 0);

  await settled(page);
  await page.locator("#chosen").setInputFiles([file("large.bin", "small now"), file("second.txt", "two")]);
  await dialog(page, "Replace large.bin?").waitFor();
  await press(page, "Cancel");
  await changed(page, "second.txt was uploaded");
  await row(page, "large.bin").getByText("1.9 MiB").waitFor();
  await page.locator("#chosen").setInputFiles(file("large.bin", "small now"));
  await press(page, "Replace");
  await changed(page, "large.bin was uploaded");
  assert.equal((await fetchText(page, "large.bin")), "small now");
  refused(page, 409, 412);
  flawless(page);
  await page.context().close();
});

const fetchText = (page, path) => page.evaluate(async (url) => (await fetch(url)).text(), `/api/v1${VOLUME}/file?path=${path}`);

test("a folder is made, files are dropped into it, one is taken along, and both are deleted", async () => {
  const page = await open();
  await page.getByRole("button", { name: "New folder" }).click();
  await fill(dialog(page), { Name: "../out" });
  await press(page, "Save");
  await mistake(dialog(page), "path").waitFor();
  refused(page, 422);
  await fill(dialog(page), { Name: "data" });
  await press(page, "Save");
  await changed(page, "The folder data was created");
  await row(page, "data").getByRole("link", { name: "data", exact: true }).click();
  await page.waitForURL(/path=data/);
  await settled(page);
  await page.evaluate(() => {
    const carried = new DataTransfer();
    carried.items.add(new File(["dropped here"], "dropped.txt"));
    for (const name of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(name, { dataTransfer: carried, bubbles: true, cancelable: true }));
  });
  await changed(page, "dropped.txt was uploaded");
  const coming = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download dropped.txt" }).click();
  assert.equal(readFileSync(await (await coming).path(), "utf8"), "dropped here");

  await page.getByRole("button", { name: "Delete dropped.txt" }).click();
  await press(page, "Delete");
  await changed(page, "dropped.txt was deleted");
  await page.getByText("This folder is empty").waitFor();
  await page.locator(".crumbs a").first().click();
  await row(page, "data").waitFor();
  await settled(page);
  await page.getByRole("button", { name: "Delete data" }).click();
  const yes = dialog(page).getByRole("button", { name: "Delete", exact: true });
  assert.ok(await yes.isDisabled(), "the name of a folder has to be typed");
  await dialog(page).getByRole("textbox").fill("data");
  await yes.click();
  await changed(page, "data was deleted");
  assert.equal(await row(page, "data").count(), 0);
  flawless(page);
  await page.context().close();
});

test("a table, JSON, a text, a picture and a page are looked at without being taken along", async () => {
  const { api } = site.there;
  const contents = { "t.csv": "step,loss\n1,0.5\n", "d.json": '{"deep":{"er":1}}', "n.txt": "<b>words</b>", "p.png": PICTURE, "p.html": PAGE };
  const page = await open();
  for (const [name, content] of Object.entries(contents)) {
    await page.locator("#chosen").setInputFiles(file(name, content));
    await changed(page, `${name} was uploaded`);
  }
  const show = async (name) => {
    await row(page, name).getByRole("link", { name, exact: true }).click();
    await dialog(page, name).waitFor();
    return dialog(page, name);
  };
  const close = async () => {
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
  };
  const table = await show("t.csv");
  assert.deepEqual(await table.locator("th").allTextContents(), ["step", "loss"]);
  assert.deepEqual(await table.locator("td").allTextContents(), ["1", "0.5"]);
  assert.deepEqual(await look(page, "en"), []);
  await close();
  await (await show("d.json")).locator("pre", { hasText: '"er": 1' }).waitFor();
  await close();
  await (await show("n.txt")).locator("pre", { hasText: "<b>words</b>" }).waitFor();
  await close();
  const picture = (await show("p.png")).locator("img");
  await eventually(async () => assert.deepEqual(await picture.evaluate((one) => [one.complete, one.naturalWidth]), [true, 2]));
  assert.deepEqual(await look(page, "en"), []);
  await close();
  const frame = (await show("p.html")).locator("iframe");
  await frame.contentFrame().getByText("no parent, no cookies, no API").waitFor();
  // The browser logs the blocked actions in its console.
  assert.ok(page.faults.some((fault) => /Content Security Policy/.test(fault)), page.faults.join("\n"));
  page.faults = page.faults.filter((fault) => !/Content Security Policy|Fetch API cannot load/.test(fault));
  await close();
  flawless(page);
  await page.context().close();
  for (const name of Object.keys(contents)) await api("DELETE", `${VOLUME}/file?path=${name}`);
});

test("a volume is added, used and taken away", async () => {
  const page = await open();
  await page.getByRole("button", { name: "Add volume" }).click();
  const form = dialog(page);
  await fill(form, { Kind: "claim" });
  await form.getByLabel("PVC", { exact: true }).waitFor();
  await fill(form, { Kind: "object_store" });
  await form.getByLabel("Bucket", { exact: true }).waitFor();
  await form.getByLabel("Secret with the access key ID").locator("option", { hasText: "hub-password" }).waitFor({ state: "attached" });
  await fill(form, { Kind: "workspace", Name: "Not A Name", "Path in the project folder": "../elsewhere" });
  await press(page, "Save");
  await form.locator(".field-error").first().waitFor();
  refused(page, 422);
  await fill(form, { Name: "sets", "Path in the project folder": "datasets/2026", Description: "Data of this year" });
  await press(page, "Save");
  await changed(page, "sets was added");
  await page.locator("tr[data-volume=sets]").getByText("Data of this year").waitFor();
  await page.getByRole("navigation", { name: "Volumes" }).getByRole("link", { name: "sets" }).click();
  await page.waitForURL(/volume=sets/);
  await settled(page);
  await page.locator("#chosen").setInputFiles(file("in.txt", "in the set"));
  await changed(page, "in.txt was uploaded");
  assert.equal(await fetchText(page, "datasets/2026/in.txt"), "in the set");
  await page.getByRole("button", { name: "Remove sets" }).click();
  await press(page, "Remove");
  await changed(page, "sets was removed");
  assert.equal(await page.locator("tr[data-volume=sets]").count(), 0);
  await row(page, "datasets").waitFor();
  flawless(page);
  await page.context().close();
});

test("a registry is added with the secret of its password, and taken away", async () => {
  const page = await open();
  await page.getByRole("button", { name: "Add registry" }).click();
  const form = dialog(page);
  await fill(form, { Name: "hub", Host: "https://hub.example.org/x" });
  await press(page, "Save");
  await mistake(form, "host").waitFor();
  refused(page, 422);
  await fill(form, { Host: "hub.example.org:5000", Account: "robot", "Secret with the password": "hub-password" });
  await press(page, "Save");
  await changed(page, "hub was added");
  const hub = page.locator("tr[data-registry=hub]");
  assert.match(await hub.innerText(), /hub\.example\.org:5000\s+robot\s+hub-password/);
  await page.getByRole("button", { name: "Remove hub" }).click();
  await press(page, "Remove");
  await changed(page, "hub was removed");
  assert.equal(await hub.count(), 0);
  flawless(page);
  await page.context().close();
});
