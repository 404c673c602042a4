//! Attempts over time: a row per task or instance, a bar per attempt. Only visible rows have elements.
//! Buttons, keys and Ctrl with the wheel zoom the time axis.

import { h, icon } from "../core/dom";
import { stateSign } from "../core/state";
import { stateWord, t } from "../core/texts";
import { duration } from "../core/time";
import { moved, pixel, stretched, ticks, type TimeScale } from "./gantt/scale";

/** One bar; times are milliseconds since the epoch, `to` is null while it is running. */
export interface GanttBar {
  from: number;
  to: number | null;
  /** The state's name, which determines the colour and icon. */
  state: string;
  /** The bar's tooltip, e.g. `attempt 2`. */
  title: string;
}

export interface GanttRow {
  id: string;
  label: string;
  /** The state of the whole row. */
  state: string;
  bars: GanttBar[];
  /** Marks the row, with this word for it. */
  mark?: string | undefined;
}

/** Options and callbacks. */
export interface GanttOptions {
  /** The label for screen readers. */
  label: string;
  rows: GanttRow[];
  /** Called when a row is opened by a click or Enter. */
  onOpen?: (id: string) => void;
}

const ROW = 30;
const MARGIN_ROWS = 8;

/** A Gantt chart; `box` gets the class `gantt` and keeps its size. */
export class Gantt {
  readonly #options: GanttOptions;
  #rows: GanttRow[] = [];
  #whole = { from: 0, to: 1 };
  #scale: TimeScale = { from: 0, to: 1, width: 1 };
  #zoomed = false;
  #frame = 0;
  readonly #axis = h("div", { class: "gantt-axis" });
  readonly #list = h("div", { class: "gantt-rows", role: "list" });
  readonly #scroll: HTMLElement;
  readonly #drawn = new Map<string, HTMLElement>();
  readonly #watch: ResizeObserver;
  readonly #clock: ReturnType<typeof setInterval>;

  constructor(box: HTMLElement, options: GanttOptions) {
    this.#options = options;
    const head = h("div", { class: "gantt-head" }, this.#tools(), this.#axis);
    this.#scroll = h("div", { class: "gantt-scroll", role: "group", "aria-label": options.label, tabindex: 0 }, head, this.#list);
    box.classList.add("gantt");
    box.replaceChildren(this.#scroll);
    this.#scroll.addEventListener("scroll", () => { this.#soon(); }, { passive: true });
    this.#scroll.addEventListener("keydown", (event) => { this.#pressed(event); });
    this.#scroll.addEventListener("wheel", (event) => { this.#wheeled(event); }, { passive: false });
    this.#watch = new ResizeObserver(() => { this.#soon(); });
    this.#watch.observe(this.#scroll);
    this.#clock = setInterval(() => { if (this.#goesOn()) this.#soon(); }, 1000);
    this.update(options.rows);
  }

  /** Replaces the rows. */
  update(rows: GanttRow[]): void {
    this.#rows = rows;
    for (const row of this.#drawn.values()) row.remove();
    this.#drawn.clear();
    this.#list.style.height = `${rows.length * ROW}px`;
    this.#soon();
  }

  /** Shows the whole time range. */
  fit(): void {
    this.#zoomed = false;
    this.#soon();
  }

  /** Removes the chart from its box. */
  destroy(): void {
    this.#watch.disconnect();
    clearInterval(this.#clock);
    cancelAnimationFrame(this.#frame);
    this.#scroll.remove();
  }

  #goesOn(): boolean {
    return document.visibilityState === "visible" && this.#rows.some((row) => row.bars.some((bar) => bar.to === null));
  }

  #tools(): HTMLElement {
    const button = (name: string, label: string, act: () => void) =>
      h("button", { class: "button quiet small icon-only", type: "button", title: label, "aria-label": label, onclick: act }, icon(name));
    return h(
      "div",
      { class: "gantt-tools" },
      button("minus", t("common.zoom-out"), () => { this.#zoom(0.6); }),
      button("plus", t("common.zoom-in"), () => { this.#zoom(1.7); }),
      button("fit", t("common.zoom-fit"), () => { this.fit(); }),
    );
  }

  #pressed(event: KeyboardEvent): void {
    const pan: Record<string, number> = { ArrowLeft: -80, ArrowRight: 80 };
    const by = pan[event.key];
    if (by !== undefined && this.#zoomed) this.#set(moved(this.#scale, by, this.#whole));
    else if (event.key === "+" || event.key === "=") this.#zoom(1.7);
    else if (event.key === "-") this.#zoom(0.6);
    else if (event.key === "0") this.fit();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") this.#step(event.key === "ArrowDown" ? 1 : -1);
    else return;
    event.preventDefault();
  }

  #step(by: number): void {
    const id = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["row"] : undefined;
    const at = Math.min(this.#rows.length - 1, Math.max(0, this.#rows.findIndex((row) => row.id === id) + by));
    const top = at * ROW;
    const room = this.#scroll.clientHeight - 2 * ROW;
    if (top < this.#scroll.scrollTop) this.#scroll.scrollTop = top;
    else if (top > this.#scroll.scrollTop + room) this.#scroll.scrollTop = top - room;
    this.#draw();
    this.#drawn.get(this.#rows[at]?.id ?? "")?.querySelector<HTMLElement>("[data-row]")?.focus({ preventScroll: true });
  }

  #wheeled(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const at = event.clientX - this.#axis.getBoundingClientRect().left;
      this.#set(stretched(this.#scale, Math.exp(-event.deltaY / 240), at, this.#whole));
    } else if (event.shiftKey && this.#zoomed) {
      event.preventDefault();
      this.#set(moved(this.#scale, event.deltaX || event.deltaY, this.#whole));
    }
  }

  #zoom(factor: number): void {
    this.#set(stretched(this.#scale, factor, this.#scale.width / 2, this.#whole));
  }

  #set(scale: TimeScale): void {
    this.#scale = scale;
    this.#zoomed = scale.to - scale.from < this.#whole.to - this.#whole.from;
    this.#soon();
  }

  #soon(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => { this.#draw(); });
  }

  #measure(): void {
    const now = Date.now();
    let [from, to] = [Infinity, -Infinity];
    for (const row of this.#rows) {
      for (const bar of row.bars) {
        from = Math.min(from, bar.from);
        to = Math.max(to, bar.to ?? now);
      }
    }
    if (from > to) [from, to] = [now - 1000, now];
    this.#whole = { from, to: Math.max(to, from + 1000) };
    const width = Math.max(1, this.#axis.clientWidth - 12);
    this.#scale = this.#zoomed ? { ...this.#scale, width } : { ...this.#whole, width };
  }

  #draw(): void {
    this.#measure();
    this.#drawAxis();
    const first = Math.max(0, Math.floor(this.#scroll.scrollTop / ROW) - MARGIN_ROWS);
    const last = Math.min(this.#rows.length, Math.ceil((this.#scroll.scrollTop + this.#scroll.clientHeight) / ROW) + MARGIN_ROWS);
    const seen = new Set(this.#rows.slice(first, last).map((row) => row.id));
    for (const [id, element] of this.#drawn) {
      if (seen.has(id) || element.contains(document.activeElement)) continue;
      element.remove();
      this.#drawn.delete(id);
    }
    for (let index = first; index < last; index += 1) {
      const row = this.#rows[index];
      if (row) this.#place(row, index);
    }
  }

  #drawAxis(): void {
    const marks = ticks(this.#scale, this.#whole.from, 96).map((seconds) => {
      const mark = h("span", { class: "gantt-tick" }, seconds === 0 ? "0" : duration(seconds));
      mark.style.left = `${pixel(this.#scale, this.#whole.from + seconds * 1000)}px`;
      return mark;
    });
    this.#axis.replaceChildren(...marks);
  }

  #place(row: GanttRow, index: number): void {
    let element = this.#drawn.get(row.id);
    if (!element) {
      const open = h("button", { class: "gantt-label", type: "button", "data-row": row.id, title: row.label }, stateSign(row.state), h("span", { class: "clip" }, row.label), ...markOf(row));
      open.addEventListener("click", () => this.#options.onOpen?.(row.id));
      element = h("div", { class: row.mark === undefined ? "gantt-row" : "gantt-row marked", role: "listitem" }, open, h("div", { class: "gantt-lane" }));
      element.style.top = `${index * ROW}px`;
      this.#drawn.set(row.id, element);
      this.#list.append(element);
    }
    element.lastElementChild?.replaceChildren(...row.bars.map((bar) => this.#bar(bar)));
  }

  #bar(bar: GanttBar): HTMLElement {
    const from = pixel(this.#scale, bar.from);
    const end = bar.to ?? Date.now();
    const width = Math.max(3, pixel(this.#scale, end) - from);
    const words = `${bar.title} · ${stateWord(bar.state)} · ${duration((end - bar.from) / 1000)}`;
    const element = h("span", { class: "gantt-bar", "data-state": bar.state, title: words }, h("span", { class: "gantt-bar-text" }, width > 54 ? duration((end - bar.from) / 1000) : ""));
    element.style.left = `${from}px`;
    element.style.width = `${width}px`;
    element.toggleAttribute("data-open", bar.to === null);
    return element;
  }
}

function markOf({ mark }: GanttRow): HTMLElement[] {
  if (mark === undefined) return [];
  return [h("span", { class: "gantt-mark", title: mark }, icon("arrow-right"), h("span", { class: "visually-hidden" }, mark))];
}
