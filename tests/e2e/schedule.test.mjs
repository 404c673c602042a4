// The schedule of a pipeline, its form in the editor, and the calendar of a project: their content, and their
// actions by keyboard.

import assert from "node:assert/strict";
import { test } from "node:test";

import { flawless, look, settled } from "./support/browser.mjs";
import { refused, told } from "./support/dialog.mjs";
import { openEditor, save } from "./support/editor.mjs";
import { eventually } from "./support/eventually.mjs";
import { until } from "./support/server.mjs";
import { siteFor } from "./support/site.mjs";
import { ended, stage } from "./support/stage.mjs";

const DAILY = `apiVersion: cubeloom/v1
kind: Pipeline
name: daily
schedule: {cron: "0 6 * * *", timezone: Europe/Berlin, late_after: 2h}
tasks: [{name: say, template: command, arguments: {command: [echo, "{{ run.date }}"]}}]
`;

const PLAIN = `apiVersion: cubeloom/v1
kind: Pipeline
name: plain
tasks: [{name: say, template: command, arguments: {command: [echo, hi]}}]
`;

/** Takes twice its allowed time. */
const SLOW = `apiVersion: cubeloom/v1
kind: Pipeline
name: slow
schedule: {every: 1s, late_after: 1s, skip_if_running: true}
tasks: [{name: rest, template: command, arguments: {command: [sleep, "2"]}}]
`;

const site = siteFor(async (server) => {
  const there = await stage(server);
  const { api } = there;
  await api("POST", "/projects/default/pipelines", { document: DAILY });
  await api("POST", "/projects/default/pipelines", { document: PLAIN });
  await api("POST", "/projects", { name: "night" });
  await api("POST", "/projects/night/pipelines", { document: SLOW });
  const first = async () => (await api("GET", "/projects/night/runs?pipeline=slow")).body.items.at(-1)?.id;
  const late = await until("a run of the schedule", first);
  await api("POST", "/projects/night/pipelines/slow/schedule/pause", {});
  await ended(api, late);
  return { ...there, late };
});

async function open(path, as, more = {}) {
  const page = await site.open({ as, ...more });
  await page.goto(path);
  await settled(page);
  return page;
}

const TAB = "/projects/default/pipelines/daily?tab=schedule";

test("a schedule says what comes next, and is paused and resumed by keyboard", async () => {
  const page = await open(TAB, "emil");
  await page.getByText("0 6 * * *").waitFor();
  await page.getByText("At 06:00 every day", { exact: true }).waitFor();
  assert.equal(await page.locator(".schedule-next li").count(), 5);
  await page.getByRole("button", { name: "Pause" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Pause" }).focus();
  await page.keyboard.press("Enter");
  await told(page, "The schedule is paused");
  await page.getByText("by emil").waitFor();
  await page.getByRole("button", { name: "Resume" }).focus();
  await page.keyboard.press("Enter");
  await told(page, "The schedule is resumed and runs as you");
  await page.locator("#schedule-title", { hasText: "Active" }).waitFor();
  flawless(page);
  await page.context().close();
});

test("dates of the past are previewed, filled in and watched; one date is run alone", async () => {
  const page = await open(TAB, "emil");
  await page.getByRole("button", { name: "Run for a date" }).click();
  await page.getByRole("dialog").getByLabel("Date").fill("never");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("is not a date", { exact: false }).waitFor();
  refused(page, 422);
  await page.getByRole("dialog").getByLabel("Date").fill("2026-01-02T06:00");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/runs/*");
  await settled(page);
  await page.locator(".run-date", { hasText: "2026-01-02 05:00 UTC" }).waitFor();

  await page.goto(TAB);
  await settled(page);
  await page.getByRole("button", { name: "Back-fill" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("First day").fill("2026-01-01");
  await dialog.getByLabel("Last day").fill("2026-01-04");
  await dialog.getByLabel("Max concurrent runs").fill("2");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("4 dates: 3 without a run", { exact: false }).waitFor();
  assert.equal(await dialog.locator(".backfill-dates li").count(), 4);
  await dialog.getByRole("button", { name: "Start 3 runs" }).click();
  await told(page, "The back-fill of 3 dates has begun");
  await page.locator('#backfills [data-backfill-state="done"]').waitFor({ timeout: 60_000 });
  await page.getByText("3 of 3 succeeded", { exact: false }).waitFor();
  assert.equal(await page.locator('#dates tr[data-date-state="started"]').count(), 4);
  flawless(page);
  await page.context().close();
});

test("a run that came too late is marked, on its page and among the others", async () => {
  for (const path of [`/runs/${site.there.late}`, "/projects/night/runs", "/projects/night/pipelines/slow?tab=runs"]) {
    const page = await open(path, "ada");
    await page.locator(".tag.danger", { hasText: "Late" }).first().waitFor();
    assert.deepEqual(await look(page, "en"), []);
    flawless(page);
    await page.context().close();
  }
});

test("the calendar shows what ran and what will run, in a month and in days", async () => {
  const page = await open("/projects/default/calendar?date=2026-01-15", "vera");
  await page.locator("#calendar-title", { hasText: "2026-01" }).waitFor();
  await page.locator(".calendar-entry", { hasText: "daily" }).first().waitFor();
  assert.ok((await page.locator(".calendar-entry").count()) >= 4);
  await page.locator(".tabs").getByRole("link", { name: "Days" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**view=days**");
  await settled(page);
  await page.goto("/projects/default/calendar");
  await settled(page);
  await page.locator("#after").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**date=**");
  await settled(page);
  // Each day of the next month has one.
  assert.ok((await page.locator('.calendar-entry[data-state="pending"]').count()) >= 28);
  await page.locator(".calendar-entry").first().click();
  await page.waitForURL("**/pipelines/daily?tab=schedule");
  assert.equal(await page.getByRole("button", { name: "Pause" }).count(), 0, "viewers only look");
  flawless(page);
  await page.context().close();
});

/** The schedule in the editor's form, unfolded. */
async function formOf(page) {
  const part = page.locator('.task-form [data-fold="schedule"]');
  await part.locator(".fold-head button").click();
  return part;
}

const datesIn = (part) => part.locator(".schedule-dates tbody tr");
const five = (part) => eventually(async () => assert.equal(await datesIn(part).count(), 5));

test("the form says a cron expression in words, and lists the next dates in the schedule's zone and the browser's", async () => {
  const page = await openEditor(site, "emil", "/projects/default/pipelines/plain/edit", { zone: "Asia/Shanghai" });
  const part = await formOf(page);
  assert.ok(await part.getByRole("radio", { name: "Off" }).isChecked());
  await part.getByRole("radio", { name: "Cron" }).check();
  const [cron, zone] = [part.getByLabel(/^Cron expression/), part.getByLabel("Time zone", { exact: true })];
  assert.equal(await zone.inputValue(), "Asia/Shanghai", "a new schedule has the browser's zone");
  await cron.fill("30 2 * * 1-5");
  await part.getByText("At 02:30 on weekdays", { exact: true }).waitFor();
  await five(part);
  for (const row of await datesIn(part).allInnerTexts()) assert.match(row, /^(Mon|Tue|Wed|Thu|Fri) \d{4}-\d\d-\d\d 02:30$/);

  await zone.click();
  const options = part.getByRole("listbox").getByRole("option");
  await options.first().getByText("this browser").waitFor();
  assert.deepEqual((await options.locator(".mono").allInnerTexts()).slice(0, 2), ["Asia/Shanghai", "UTC"]);
  await zone.fill("new york");
  await eventually(async () => assert.equal(await options.count(), 1));
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await zone.inputValue(), "America/New_York"));
  await part.getByRole("columnheader", { name: "America/New_York" }).waitFor();
  await part.getByRole("columnheader", { name: "Your time (Asia/Shanghai)" }).waitFor();
  // The offset is there while the clock changes.
  for (const row of await datesIn(part).allInnerTexts()) assert.match(row, /02:30( -\d\d:\d\d)?\s+\w{3} [\d-]+ 1[45]:30( \+08:00)?$/);

  await cron.fill("30 25 * * *");
  await part.getByText("Hour: “25” is not valid").waitFor();
  assert.equal(await cron.getAttribute("aria-invalid"), "true");
  await part.getByText("They appear once the schedule is valid.").waitFor();
  await cron.fill("@weekly");
  await part.getByText("At 00:00 on Sundays", { exact: true }).waitFor();
  await five(part);
  assert.deepEqual(await look(page, "en"), []);

  // Another kind keeps the zone, and the previous kind comes back as it was.
  await part.getByRole("radio", { name: "Interval" }).check();
  await part.getByLabel("Every", { exact: true }).fill("90m");
  await five(part);
  assert.equal(await zone.inputValue(), "America/New_York");
  await part.getByRole("radio", { name: "Cron" }).check();
  await eventually(async () => assert.equal(await cron.inputValue(), "@weekly"));
  await save(page, "Once a week");
  const { document } = (await site.there.api("GET", "/projects/default/pipelines/plain")).body;
  assert.match(document, /cron: ["']@weekly["']/);
  assert.match(document, /timezone: America\/New_York/);
  assert.doesNotMatch(document, /every/);
  flawless(page);
  await page.context().close();
});

for (const { lang, theme, size } of [
  { lang: "en", theme: "light", size: "wide" },
  { lang: "zh", theme: "dark", size: "narrow" },
]) {
  test(`the schedule and the calendar in ${lang}, ${theme}, ${size}`, async () => {
    const page = await open(TAB, "emil", { lang, theme, size });
    const wrong = await look(page, lang);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/schedule-${theme}-${size}.png`, fullPage: true });
    for (const path of ["/projects/default/calendar?date=2026-01-15", "/projects/default/calendar?view=days", "/projects/default/calendar"]) {
      await page.goto(path);
      await settled(page);
      wrong.push(...(await look(page, lang)));
      if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/calendar-${theme}-${size}${path.length}.png`, fullPage: true });
    }
    assert.deepEqual(wrong, []);
    await page.context().close();
  });

  test(`the form of a schedule in ${lang}, ${theme}, ${size}`, async () => {
    const page = await openEditor(site, "emil", "/projects/default/pipelines/daily/edit", { lang, theme, size, zone: "Asia/Shanghai" });
    // On a narrow screen the form is a sheet.
    if (size === "narrow") await page.locator(".ed-panels button").first().click();
    const part = await formOf(page);
    await five(part);
    assert.equal(await part.locator(".schedule-dates th").count(), 2);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/schedule-form-${theme}-${size}.png` });
    assert.deepEqual(await look(page, lang), []);
    flawless(page);
    await page.context().close();
  });
}
