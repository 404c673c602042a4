// The rows of the grid. Cells are updated in place, so that the focus and the pointer stay where they are.

import { h, icon } from "../../core/dom";
import { stateIcon } from "../../core/state";
import { t } from "../../core/texts";
import { duration } from "../../core/time";
import { isGrowing, type Bars, type GridCell, type GridRun, type GridTask } from "./data";
import { cellTitle, runTitle } from "./words";

/** Replaces the children, unless they are the same. */
export function fill(parent: Element, children: readonly Element[]): void {
  const same = parent.childElementCount === children.length && children.every((child, at) => parent.children[at] === child);
  if (!same) parent.replaceChildren(...children);
}

/** The first row: a bar for each run, as high as its duration, and the state's sign. */
export class RunsRow {
  readonly element = h("div", { class: "task-grid-row task-grid-runs", role: "row" });
  readonly #longest = h("span", { class: "faint" });
  readonly #corner = h("div", { class: "task-grid-head", role: "columnheader" }, this.#longest, h("span", {}, t("runs.grid-task")));
  #bars = new Map<string, HTMLAnchorElement>();

  /** Shows these runs. Returns their links. */
  update(runs: readonly GridRun[], bars: Bars): HTMLElement[] {
    this.#bars = new Map(runs.map((run) => [run.id, this.#bars.get(run.id) ?? bar(run.id)]));
    fill(this.element, [this.#corner, ...[...this.#bars.values()].flatMap((link) => link.parentElement ?? [])]);
    this.#longest.textContent = bars.longest === null ? "" : t("runs.grid-longest", { took: duration(bars.longest) });
    this.element.toggleAttribute("data-median", bars.median !== null);
    this.element.style.setProperty("--median", String(bars.median ?? 0));
    runs.forEach((run, at) => { this.#paint(run, bars.took[at] ?? null, bars.longest); });
    return [...this.#bars.values()];
  }

  #paint(run: GridRun, took: number | null, longest: number | null): void {
    const link = this.#bars.get(run.id);
    if (link === undefined) return;
    paint(link, run.state, runTitle(run, took));
    const length = took === null || !longest ? 0 : took / longest;
    link.style.setProperty("--length", length.toFixed(3));
    link.toggleAttribute("data-open", isGrowing(run));
  }
}

function bar(run: string): HTMLAnchorElement {
  const link = h("a", { class: "task-grid-bar", href: `/runs/${run}`, tabindex: -1 });
  h("div", { class: "task-grid-run", role: "columnheader" }, link);
  return link;
}

/** A task's row: its name, the number of its failures, and a cell for each run. */
export class TaskRow {
  readonly element = h("div", { class: "task-grid-row", role: "row" });
  readonly #task: string;
  readonly #failures = h("span", { class: "task-grid-failures" });
  readonly #removed = h("span", { class: "tag", hidden: true, title: t("runs.grid-removed-help") }, t("runs.grid-removed"));
  readonly #head: HTMLElement;
  #cells = new Map<string, HTMLElement>();

  constructor(task: string) {
    this.#task = task;
    const name = h("span", { class: "clip", title: task }, task);
    this.#head = h("div", { class: "task-grid-head", role: "rowheader" }, name, this.#removed, this.#failures);
  }

  /** Shows this state of the task. Returns the elements that get the focus. */
  update(task: GridTask, runs: readonly GridRun[]): HTMLElement[] {
    this.#head.toggleAttribute("data-removed", task.removed);
    this.#removed.hidden = !task.removed;
    this.#failures.textContent = task.failures === 0 ? "" : t("runs.grid-failed", { n: task.failures });
    const found = new Map(task.cells.map((cell) => [cell.run, cell]));
    const items = runs.map((run, at) => this.#item(run.id, found.get(at)));
    this.#cells = new Map(runs.map((run, at) => [run.id, items[at] ?? nothing()]));
    fill(this.element, [this.#head, ...items.map(cellOf)]);
    return items;
  }

  #item(run: string, cell: GridCell | undefined): HTMLElement {
    const known = this.#cells.get(run);
    const there = cell !== undefined;
    const item = known !== undefined && known instanceof HTMLAnchorElement === there ? known : there ? sign(run, this.#task) : nothing();
    if (item instanceof HTMLAnchorElement && cell) paint(item, cell.state, cellTitle(this.#task, cell));
    else item.title = cellTitle(this.#task, cell);
    return item;
  }
}

function sign(run: string, task: string): HTMLAnchorElement {
  const link = h("a", { class: "task-grid-sign", href: `/runs/${run}/tasks/${task}`, tabindex: -1 });
  h("div", { class: "task-grid-cell", role: "gridcell" }, link);
  return link;
}

/** The cell of a run without the task. */
function nothing(): HTMLElement {
  return h("div", { class: "task-grid-cell task-grid-nothing", role: "gridcell", tabindex: -1 });
}

function cellOf(item: HTMLElement): Element {
  return item instanceof HTMLAnchorElement ? (item.parentElement ?? item) : item;
}

/** Shows a state and its words; unchanged ones are not touched. */
function paint(link: HTMLAnchorElement, state: string, title: string): void {
  if (link.dataset["state"] !== state) {
    link.dataset["state"] = state;
    link.replaceChildren(icon(stateIcon(state)));
  }
  if (link.title !== title) link.title = title;
}
