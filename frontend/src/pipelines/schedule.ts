//! The schedule of a pipeline: pause, resume, run for a date, back-fill.

import { request } from "../api/client";
import { loadPage } from "../api/page";
import type { Schema } from "../api/typed";
import { ask } from "../core/ask";
import { confirm, openDialog } from "../core/dialog";
import { around, h, need } from "../core/dom";
import { check, field, input, required, said } from "../core/fields";
import { busy, clearProblems, onSubmit, showProblem, trying } from "../core/form";
import { ApiProblem } from "../api/problem";
import { language, moreTexts, stateWord, t } from "../core/texts";
import { toastLater } from "../core/toast";

interface Page {
  project: string;
  pipeline: string;
}

/** The maximum number of dates listed in a preview. */
const LISTED = 60;
/** The poll interval of a running back-fill, in milliseconds. */
const AGAIN = 3000;

/** Activates the tab. */
export function watchSchedule(page: Page): void {
  const zone = need("#schedule").dataset["zone"] ?? "UTC";
  need("#main").addEventListener("click", (event) => {
    const cancelled = around(event, "[data-cancel-backfill]")?.dataset["cancelBackfill"];
    if (cancelled !== undefined) void trying(() => cancel(page, cancelled));
    else if (around(event, "[data-pause]")) void trying(() => pause(page));
    else if (around(event, "[data-resume]")) void trying(() => resume(page));
    else if (around(event, "[data-run-date]")) runDate(page, zone);
    else if (around(event, "[data-backfill]")) fillIn(page, zone);
  });
  followBackfills();
  void sayCron();
}

/** Writes the meaning of the cron expression beside it. */
async function sayCron(): Promise<void> {
  const place = document.querySelector<HTMLElement>("[data-cron]");
  if (!place) return;
  const [{ cronWords }] = await Promise.all([import("../core/cron-words"), moreTexts("cron")]);
  place.textContent = cronWords(place.dataset["cron"] ?? "", { t, language: language() });
}

const pathOf = ({ project, pipeline }: Page) => `/projects/${project}/pipelines/${pipeline}` as const;

function again(message: string): void {
  toastLater(message);
  location.reload();
}

async function pause(page: Page): Promise<void> {
  if (!(await confirm({ title: t("schedule.pause-title"), text: t("schedule.pause-text"), action: t("schedule.pause") }))) return;
  await request("POST", `${pathOf(page)}/schedule/pause`);
  again(t("schedule.was-paused"));
}

async function resume(page: Page): Promise<void> {
  await request("POST", `${pathOf(page)}/schedule/resume`);
  again(t("schedule.resumed"));
}

function runDate(page: Page, zone: string): void {
  ask({
    title: t("schedule.run-date"),
    fields: [
      field("date", t("schedule.date"), required(input(today(), "text")), t("schedule.date-help", { zone })),
      check("again", t("schedule.again"), false),
    ],
    action: t("schedule.start-run"),
    send: async (data) => {
      const date = said(data, "date");
      const answer = await request("POST", `${pathOf(page)}/schedule/dates`, { date, again: data.has("again") });
      toastLater(t("schedule.date-has-run", { date }));
      location.assign(`/runs/${answer.data.run.id}`);
    },
  });
}

/** Today, in the user's time zone. */
function today(): string {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** Asks for a range, shows a preview of it, and starts it after that. */
function fillIn(page: Page, zone: string): void {
  const shown = h("div", { class: "backfill-preview", "aria-live": "polite" });
  const fields = [
    field("first", t("schedule.first"), required(input(today(), "date")), t("schedule.range-help", { zone })),
    field("last", t("schedule.last"), required(input(today(), "date"))),
    field("parallelism", t("schedule.parallelism"), h("input", { class: "input", type: "number", min: 1, max: 100, value: "1" })),
    check("again", t("schedule.again-all"), false),
  ];
  const form = h("form", { class: "form", id: "backfill-form" }, ...fields, shown);
  const no = h("button", { class: "button", type: "button" }, t("common.cancel"));
  const look = h("button", { class: "button", type: "button", id: "backfill-preview" }, t("schedule.preview"));
  const go = h("button", { class: "button primary", type: "submit", form: "backfill-form", hidden: true }, t("schedule.backfill"));
  const dialog = openDialog({ title: t("schedule.backfill"), body: [form], actions: [no, look, go] });
  no.addEventListener("click", () => { dialog.close(); });
  look.addEventListener("click", () => void busy(look, () => preview(page, form, shown, go)));
  // The preview no longer matches the input.
  form.addEventListener("input", () => { shown.replaceChildren(); go.hidden = true; });
  onSubmit(form, async (data) => {
    if (go.hidden) { await preview(page, form, shown, go); return; }
    const wanted = { first: said(data, "first"), last: said(data, "last"), parallelism: Number(said(data, "parallelism")), again: data.has("again") };
    const answer = await request("POST", `${pathOf(page)}/backfills`, wanted);
    dialog.close();
    again(t("schedule.backfill-started", { n: answer.data.total }));
  });
}

async function preview(page: Page, form: HTMLFormElement, shown: HTMLElement, go: HTMLButtonElement): Promise<void> {
  clearProblems(form);
  const data = new FormData(form);
  const query = new URLSearchParams({ first: said(data, "first"), last: said(data, "last") });
  try {
    const { data: found } = await request("GET", `${pathOf(page)}/schedule/dates?${query.toString()}`);
    const count = data.has("again") ? found.total - found.underway : found.without_run;
    shown.replaceChildren(...listed(found));
    go.hidden = count === 0;
    go.replaceChildren(t("schedule.start-backfill", { n: count }));
  } catch (error) {
    if (error instanceof ApiProblem) showProblem(form, error);
    else throw error;
  }
}

function listed(found: Schema<"DatesView">): HTMLElement[] {
  if (found.total === 0) return [h("p", { class: "muted" }, t("schedule.preview-none"))];
  const counts = t("schedule.preview-counts", { total: found.total, without: found.without_run, underway: found.underway });
  const dates = found.dates.slice(0, LISTED);
  const lines = dates.map((one) => h("li", {}, h("span", { class: "number" }, one.date.slice(0, 16).replace("T", " ")), " ", runOf(one)));
  const rest = found.total > dates.length ? [h("p", { class: "small muted" }, t("schedule.preview-first", { n: dates.length }))] : [];
  return [h("p", {}, counts), h("ol", { class: "backfill-dates small", tabindex: "0" }, ...lines), ...rest];
}

function runOf(one: Schema<"RangeDateView">): HTMLElement {
  if (!one.run) return h("span", { class: "muted" }, t("schedule.no-run"));
  return h("a", { href: `/runs/${one.run}`, class: "mono" }, `${one.run.slice(-8)} ${one.run_state ? stateWord(one.run_state) : ""}`);
}

async function cancel(page: Page, backfill: string): Promise<void> {
  const stop = check("runs", t("schedule.cancel-runs"), false);
  const question = { title: t("schedule.cancel-title"), text: t("schedule.cancel-text"), action: t("schedule.cancel"), danger: true, field: stop };
  const box = stop.querySelector("input");
  if (!(await confirm(question))) return;
  await request("POST", `${pathOf(page)}/backfills/${backfill}/cancel`, { runs: box?.checked ?? false });
  again(t("schedule.backfill-stopped"));
}

/** Shows the progress of back-fills while one is running. */
function followBackfills(): void {
  const underway = () => document.querySelector('[data-backfill-state="running"]') !== null;
  const look = async () => {
    if (!underway()) return;
    if (document.visibilityState === "visible" && !document.querySelector("dialog[open]")) await refresh();
    setTimeout(() => void look(), AGAIN);
  };
  setTimeout(() => void look(), AGAIN);
}

async function refresh(): Promise<void> {
  try {
    const fresh = await loadPage(location.href);
    if (fresh === null) return;
    for (const id of ["#backfills", "#dates"]) {
      const [old, found] = [document.querySelector(id), fresh.querySelector(id)];
      if (old && found && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(found));
    }
  } catch {
    // The server is temporarily unreachable.
  }
}
