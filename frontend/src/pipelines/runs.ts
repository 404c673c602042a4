//! The tab with a pipeline's runs: the grid of their tasks and the list, both live.

import { need } from "../core/dom";
import { live } from "../core/live";
import { paintTimes } from "../core/time";
import { Refresher, takeParts } from "../run/refresh";
import type { GridData, Order } from "./grid/data";
import { TaskGrid } from "./grid/grid";

/** The parts that the server renders. */
const PARTS = ["grid-title", "grid-durations", "runs"];

export function watchRuns(project: string, pipeline: string): void {
  const box = document.querySelector<HTMLElement>("#task-grid");
  const grid = box === null ? null : new TaskGrid(box, "grid-title", read(document));
  if (grid !== null) watchOrder(grid);
  const refresher = new Refresher((fresh) => { take(fresh, grid); });
  const soon = (): void => { refresher.soon(); };
  const changed = (data: unknown): void => {
    if ((data as { run: { pipeline: string } }).run.pipeline === pipeline) soon();
  };
  live(`/api/v1/projects/${project}/events`, { on: { run: changed, deleted: soon, snapshot: soon }, onReturn: soon });
}

function watchOrder(grid: TaskGrid): void {
  const select = need<HTMLSelectElement>("#grid-order");
  const sort = (): void => { grid.sort(select.value as Order); };
  select.addEventListener("change", sort);
  // The browser restores the selection when the user comes back to the page.
  if (select.value !== "document") sort();
}

function take(fresh: Document, grid: TaskGrid | null): void {
  const isThere = fresh.querySelector("#grid-data") !== null;
  if (isThere !== (grid !== null)) {
    // The first run has started, or the last one was deleted.
    location.reload();
  } else if (grid !== null) {
    takeParts(fresh, PARTS);
    paintTimes(need("#runs"));
    grid.update(read(fresh));
  }
}

function read(page: Document): GridData {
  return JSON.parse(need("#grid-data", page).textContent) as GridData;
}
