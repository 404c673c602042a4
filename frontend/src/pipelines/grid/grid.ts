//! Runs of a pipeline by their tasks: a column for each run, a row for each task. A cell links to the task of
//! the run, a bar to the run. The arrow keys move between them.

import { bars, isGrowing, ordered, type GridData, type Order } from "./data";
import { moved, type Place } from "./move";
import { fill, RunsRow, TaskRow } from "./rows";

/** How often the bars of active runs grow, in milliseconds. */
const TICK = 1000;

export class TaskGrid {
  readonly #box: HTMLElement;
  readonly #head = new RunsRow();
  #rows = new Map<string, TaskRow>();
  /** What can have the focus, by row and column. The first row has the bars. */
  #items: HTMLElement[][] = [];
  /** The only item that Tab reaches. */
  #current: HTMLElement | undefined;
  #data: GridData;
  #order: Order = "document";

  /** `box` gets the role of a grid; `label` is the id of its heading. */
  constructor(box: HTMLElement, label: string, data: GridData) {
    this.#box = box;
    this.#data = data;
    box.setAttribute("role", "grid");
    box.setAttribute("aria-labelledby", label);
    box.addEventListener("keydown", (event) => { this.#pressed(event); });
    box.addEventListener("focusin", (event) => { this.#reached(event.target); });
    setInterval(() => { this.#tick(); }, TICK);
    this.#draw();
    this.#showNewest();
  }

  update(data: GridData): void {
    const { scrollLeft, clientWidth, scrollWidth } = this.#box;
    const atNewest = scrollLeft + clientWidth >= scrollWidth - 1;
    this.#data = data;
    this.#draw();
    if (atNewest) this.#showNewest();
  }

  sort(order: Order): void {
    this.#order = order;
    this.#draw();
  }

  #showNewest(): void {
    this.#box.scrollLeft = this.#box.scrollWidth;
  }

  #draw(): void {
    const { runs, tasks } = this.#data;
    const focused = this.#box.contains(document.activeElement) ? this.#current : undefined;
    this.#box.style.setProperty("--runs", String(runs.length));
    const shown = ordered(tasks, this.#order);
    this.#rows = new Map(shown.map(({ name }) => [name, this.#rows.get(name) ?? new TaskRow(name)]));
    this.#items = [this.#head.update(runs, bars(this.#data, Date.now()))];
    for (const task of shown) this.#items.push(this.#rows.get(task.name)?.update(task, runs) ?? []);
    fill(this.#box, [this.#head.element, ...[...this.#rows.values()].map(({ element }) => element)]);
    if (!this.#current?.isConnected) this.#reached(this.#items[0]?.at(-1) ?? null);
    // An element that is moved loses the focus.
    if (focused !== undefined && document.activeElement !== focused) this.#current?.focus({ preventScroll: true });
  }

  #tick(): void {
    if (document.visibilityState !== "visible" || !this.#data.runs.some(isGrowing)) return;
    this.#head.update(this.#data.runs, bars(this.#data, Date.now()));
  }

  #reached(target: EventTarget | null): void {
    if (!(target instanceof HTMLElement) || target === this.#current) return;
    this.#current?.setAttribute("tabindex", "-1");
    target.setAttribute("tabindex", "0");
    this.#current = target;
  }

  #pressed(event: KeyboardEvent): void {
    const at = this.#placeOf(event.target);
    if (at === null || event.altKey || event.metaKey || event.shiftKey) return;
    const last = { row: this.#items.length - 1, column: this.#data.runs.length - 1 };
    const to = moved(at, event.key, event.ctrlKey, last);
    if (to === null) return;
    event.preventDefault();
    this.#items[to.row]?.[to.column]?.focus();
  }

  #placeOf(target: EventTarget | null): Place | null {
    for (const [row, items] of this.#items.entries()) {
      const column = items.findIndex((item) => item === target);
      if (column >= 0) return { row, column };
    }
    return null;
  }
}
