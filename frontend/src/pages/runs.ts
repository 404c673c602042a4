//! The list of runs: rows update live, several can be selected, and everything works by keyboard.

import { all, need } from "../core/dom";
import { onKeys } from "../core/keys";
import { live } from "../core/live";
import { t } from "../core/texts";
import { paintTimes } from "../core/time";
import { watchBulk } from "../run/bulk";
import { morph } from "../run/morph";
import { Refresher } from "../run/refresh";

export function start(): void {
  watchFilters();
  const table = document.querySelector<HTMLElement>("#runs");
  const box: HTMLElement = table ?? need("#runs-empty");
  const project = box.dataset["project"] ?? "";
  let chosen = (): void => undefined;
  const refresher = new Refresher((fresh) => {
    take(fresh, table);
    chosen();
  });
  const soon = (): void => { refresher.soon(); };
  if (table !== null) {
    chosen = watchBulk(table, project, soon);
    watchKeys(table);
  }
  live(`/api/v1/projects/${project}/events`, { on: { run: soon, deleted: soon, snapshot: soon }, onReturn: soon });
}

/** A filter applies as soon as it is selected. */
function watchFilters(): void {
  for (const select of all<HTMLSelectElement>(".filters select")) {
    select.addEventListener("change", () => { select.form?.requestSubmit(); });
  }
}

/** Existing rows update in place; newer ones are only counted, so that nothing shifts. */
function take(fresh: Document, table: HTMLElement | null): void {
  const rows = all("#runs tbody tr", fresh);
  if (table === null) {
    if (rows.length > 0) location.reload();
    return;
  }
  let newer = 0;
  let known = false;
  for (const row of rows) {
    const old = document.getElementById(row.id);
    if (old !== null) {
      known = true;
      morph(old, row);
    } else if (!known) newer += 1;
  }
  paintTimes(table);
  const button = need<HTMLButtonElement>("#newer");
  button.hidden = newer === 0 || table.dataset["newest"] === undefined;
  button.textContent = t("runs.newer", { n: newer });
  button.onclick = () => { location.reload(); };
}

/** J and K, or the arrows, move between rows; space selects, Enter opens. */
function watchKeys(table: HTMLElement): void {
  const links = (): HTMLElement[] => all(".row-link", table);
  const row = (): Element | undefined => document.activeElement?.closest("tr") ?? undefined;
  const move = (by: number): void => {
    const list = links();
    const at = list.findIndex((link) => link.closest("tr") === row());
    list[Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + by))]?.focus();
  };
  const down = (): void => { move(1); };
  const up = (): void => { move(-1); };
  onKeys({ j: down, k: up });
  table.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === " " && event.target instanceof HTMLAnchorElement) {
      event.preventDefault();
      row()?.querySelector<HTMLInputElement>("input[name=run]")?.click();
    }
  });
}
