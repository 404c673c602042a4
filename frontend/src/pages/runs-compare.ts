//! Comparison of several runs in one table, live while they run.

import { need } from "../core/dom";
import { live } from "../core/live";
import { paintTimes } from "../core/time";
import type { ComparedRun } from "../run/comparison";
import { comparisonTable } from "../run/comparison-table";
import { morph } from "../run/morph";
import { Refresher } from "../run/refresh";

export function start(): void {
  const box = need("#comparison");
  const all = need<HTMLInputElement>("#compare-all");
  let runs = read(document);
  const show = (): void => { draw(box, runs, all.checked); };
  all.addEventListener("change", show);
  show();
  const refresher = new Refresher((fresh) => {
    if (fresh.querySelector("#comparison-data") === null) return;
    runs = read(fresh);
    show();
  });
  const soon = (): void => { refresher.soon(); };
  const changed = (data: unknown): void => {
    const { id } = (data as { run: { id: string } }).run;
    if (runs.some(({ run }) => run.id === id)) soon();
  };
  live(`/api/v1/projects/${box.dataset["project"] ?? ""}/events`, { on: { run: changed, snapshot: soon }, onReturn: soon });
}

function draw(box: HTMLElement, runs: readonly ComparedRun[], all: boolean): void {
  const table = comparisonTable(runs, all);
  paintTimes(table);
  const old = box.querySelector("table");
  if (old === null) box.append(table);
  else morph(old, table);
}

function read(page: Document): readonly ComparedRun[] {
  return (JSON.parse(need("#comparison-data", page).textContent) as { runs: ComparedRun[] }).runs;
}
