// Bulk actions on runs of the list.

import { request, type Answer } from "../api/client";
import type { Schema } from "../api/typed";
import { confirm } from "../core/dialog";
import { all, need } from "../core/dom";
import { busy, trying } from "../core/form";
import { t } from "../core/texts";
import { toast } from "../core/toast";

type Results = Schema<"ManyResults">;

/** The maximum number of runs compared with each other. */
const COMPARED = 10;

/** The maximum number of errors shown individually. */
const SHOWN = 5;

/** Activates row selection and bulk actions. Returns a function that re-renders the selection. */
export function watchBulk(table: HTMLElement, project: string, changed: () => void): () => void {
  const ticks = (): HTMLInputElement[] => all<HTMLInputElement>("input[name=run]", table);
  const chosen = (): string[] => ticks().filter((tick) => tick.checked).map((tick) => tick.value);
  const whole = table.querySelector<HTMLInputElement>("#all");
  if (whole === null) return () => undefined;
  const show = (): void => {
    const [some, list] = [chosen(), ticks()];
    need("#bulk").hidden = some.length === 0;
    need("#keys-hint").hidden = some.length > 0;
    need("#bulk-count").textContent = t("runs.selected", { n: some.length });
    offerCompare(project, some);
    whole.checked = some.length === list.length;
    whole.indeterminate = some.length > 0 && some.length < list.length;
    for (const tick of list) tick.closest("tr")?.setAttribute("aria-selected", String(tick.checked));
  };
  const set = (checked: boolean): void => {
    for (const tick of ticks()) tick.checked = checked;
    show();
  };
  table.addEventListener("change", (event) => {
    if (event.target === whole) set(whole.checked);
    else show();
  });
  need("#bulk-none").addEventListener("click", () => { set(false); });
  const act = (id: string, work: (runs: string[]) => Promise<boolean>): void => {
    // Viewers select runs only to compare them.
    const button = document.querySelector<HTMLButtonElement>(id);
    button?.addEventListener("click", () => {
      void busy(button, () =>
        trying(async () => {
          if (!(await work(chosen()))) return;
          set(false);
          changed();
        }),
      );
    });
  };
  act("#bulk-cancel", (runs) => cancel(project, runs));
  act("#bulk-again", (runs) => again(project, runs));
  show();
  return show;
}

/** The link to the comparison of these runs, the oldest first. */
function offerCompare(project: string, runs: string[]): void {
  const link = need<HTMLAnchorElement>("#bulk-compare");
  link.hidden = runs.length < 2 || runs.length > COMPARED;
  need("#bulk-limit").hidden = !link.hidden;
  // Ids are in the order of their creation.
  link.href = `/projects/${project}/compare?runs=${[...runs].sort().join(",")}`;
}

async function cancel(project: string, runs: string[]): Promise<boolean> {
  const text = t("runs.cancel-question", { n: runs.length });
  if (!(await confirm({ title: t("runs.cancel"), text, action: t("runs.cancel"), danger: true }))) return false;
  const results = await inTurns(runs, (left) => request("POST", `/projects/${project}/runs/cancel`, { runs: left }));
  say(results, (n) => t("runs.done-cancel", { n }));
  return true;
}

async function again(project: string, runs: string[]): Promise<boolean> {
  const text = t("runs.again-question", { n: runs.length });
  if (!(await confirm({ title: t("runs.again"), text, action: t("runs.again") }))) return false;
  const results = await inTurns(runs, (left) => request("POST", `/projects/${project}/runs/rerun`, { runs: left }));
  say(results, (n) => t("runs.done-again", { n }));
  return true;
}

/** Resends runs that the server had no time for, until all are done. */
async function inTurns(runs: string[], send: (left: string[]) => Promise<Answer<Results>>): Promise<Results["results"]> {
  const results: Results["results"] = [];
  for (let left = runs; left.length > 0; ) {
    const { data } = await send(left);
    results.push(...data.results);
    left = data.left ?? [];
  }
  return results;
}

/** Reports the number of successes, and the reasons of failures. */
function say(results: Results["results"], done: (n: number) => string): void {
  const well = results.filter((one) => one.ok).length;
  if (well > 0) toast(done(well));
  for (const one of results.filter((result) => !result.ok).slice(0, SHOWN)) {
    toast(one.message ?? one.run, "error");
  }
}
