// A virtualized log view: only visible lines have elements, so that 100,000 lines cost as much as fifty.

import { plain } from "./ansi";
import { Heights } from "./heights";
import type { Lines } from "./lines";
import { before, row, type Look } from "./row";

/** Lines rendered above and below the visible ones. */
const MARGIN = 20;

/** A scrolling box of lines. */
export class LogView {
  readonly box: HTMLElement;
  readonly #sizer = document.createElement("div");
  readonly #rows = document.createElement("div");
  readonly #lines: Lines;
  readonly #heights = new Heights();
  readonly #drawn = new Map<number, HTMLElement>();
  #look: Look = { named: false, wanted: undefined, times: "none", begin: 0, digits: 0 };
  #current = -1;
  #wrap = false;
  #rowHeight = 18;
  #columns = 80;
  #frame = 0;

  /** Whether the view stays at the end as lines arrive. */
  follows = false;
  /** Called when the user scrolls away from the end, or to it. */
  onFollow: (follows: boolean) => void = () => undefined;
  /** Called when the first lines are nearly visible. */
  onStart: () => void = () => undefined;

  constructor(box: HTMLElement, lines: Lines) {
    this.box = box;
    this.#lines = lines;
    this.#sizer.className = "log-sizer";
    this.#rows.className = "log-rows";
    this.#sizer.append(this.#rows);
    box.append(this.#sizer);
    box.addEventListener("scroll", () => { this.#scrolled(); }, { passive: true });
    new ResizeObserver(() => { this.#resized(); }).observe(box);
  }

  /** Lines from this one on were appended. */
  appended(from: number): void {
    for (let at = from; at < this.#lines.count; at += 1) {
      if (at < this.#heights.count) this.#heights.set(at, this.#estimate(at));
      else this.#heights.push(this.#estimate(at));
      this.#forget(at);
    }
    if (this.follows) this.toEnd();
    this.#draw();
  }

  /** Changes how lines are rendered; the first visible line stays. */
  dress(look: Partial<Look>): void {
    const first = this.first();
    this.#look = { ...this.#look, ...look };
    this.#measureAll();
    this.#redraw();
    this.box.scrollTop = this.#heights.top(first) * this.#rowHeight;
  }

  /** This many lines were put before all others; the visible ones stay where they are. */
  prepended(count: number): void {
    const { scrollTop } = this.box;
    if (this.#current >= 0) this.#current += count;
    this.#measureAll();
    this.box.scrollTop = scrollTop + this.#heights.top(count) * this.#rowHeight;
    if (this.follows) this.toEnd();
    this.#redraw();
  }

  /** All lines were replaced; this one is shown. */
  replaced(line: number): void {
    this.#current = -1;
    this.#measureAll();
    this.box.scrollTop = Math.max(0, this.#heights.top(line) * this.#rowHeight - this.box.clientHeight / 3);
    if (this.follows) this.toEnd();
    this.#redraw();
  }

  /** Marks search matches, and the current line (-1: none). */
  mark(wanted: RegExp | undefined, line: number): void {
    this.#look = { ...this.#look, wanted };
    this.#current = line;
    this.#redraw();
  }

  /** Scrolls to a line, unless it is visible. */
  show(line: number): void {
    const top = this.#heights.top(line) * this.#rowHeight;
    const inSight = top >= this.box.scrollTop && top + this.#rowHeight <= this.box.scrollTop + this.box.clientHeight;
    if (!inSight) this.box.scrollTop = Math.max(0, top - this.box.clientHeight / 3);
  }

  /** Turns line wrapping on or off; the first visible line stays. */
  wrap(on: boolean): void {
    const first = this.first();
    this.#wrap = on;
    this.box.classList.toggle("log-wrapped", on);
    this.#measureAll();
    this.#redraw();
    this.box.scrollTop = this.#heights.top(first) * this.#rowHeight;
  }

  /** The first visible line. */
  first(): number {
    return this.#heights.lineAt(Math.floor(this.box.scrollTop / this.#rowHeight));
  }

  /** Scrolls to the last line. */
  toEnd(): void {
    this.#size();
    this.box.scrollTop = this.box.scrollHeight;
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.box;
    const atEnd = scrollTop + clientHeight >= scrollHeight - 2 * this.#rowHeight;
    if (atEnd !== this.follows) this.onFollow(atEnd);
    this.#nearStart();
    this.#draw();
  }

  #nearStart(): void {
    if (this.#heights.count > 0 && this.box.scrollTop < this.box.clientHeight) this.onStart();
  }

  #resized(): void {
    const probe = document.createElement("div");
    probe.className = "log-row log-probe";
    probe.textContent = "0".repeat(100);
    this.#rows.append(probe);
    const { width, height } = probe.getBoundingClientRect();
    probe.remove();
    if (width === 0) return;
    this.#rowHeight = height;
    this.#columns = Math.max(10, Math.floor((this.box.clientWidth - 24) / (width / 100)));
    this.#measureAll();
    if (this.follows) this.toEnd();
    this.#redraw();
  }

  #estimate(line: number): number {
    const kept = this.#wrap ? this.#lines.line(line) : undefined;
    if (kept === undefined) return 1;
    return Math.max(1, Math.ceil((plain(kept.text).length + before(kept, this.#look)) / this.#columns));
  }

  #measureAll(): void {
    this.#heights.reset(Array.from({ length: this.#lines.count }, (_, at) => this.#estimate(at)));
    this.#size();
  }

  #size(): void {
    this.#sizer.style.height = `${this.#heights.total * this.#rowHeight}px`;
  }

  #redraw(): void {
    for (const element of this.#drawn.values()) element.remove();
    this.#drawn.clear();
    this.#draw();
  }

  #draw(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#drawNow();
    });
  }

  #drawNow(): void {
    this.#size();
    const { scrollTop, clientHeight } = this.box;
    const first = Math.max(0, this.#heights.lineAt(Math.floor(scrollTop / this.#rowHeight)) - MARGIN);
    const last = Math.min(
      this.#heights.count - 1,
      this.#heights.lineAt(Math.ceil((scrollTop + clientHeight) / this.#rowHeight)) + MARGIN,
    );
    for (const at of [...this.#drawn.keys()]) if (at < first || at > last) this.#forget(at);
    let after: Element | null = this.#rows.firstElementChild;
    for (let at = first; at <= last; at += 1) {
      const element = this.#drawn.get(at) ?? this.#make(at, after);
      after = element?.nextElementSibling ?? null;
    }
    this.#rows.style.transform = `translateY(${this.#heights.top(first) * this.#rowHeight}px)`;
    if (this.#wrap) this.#correct();
    this.#nearStart();
  }

  /** Draws a line before another element. */
  #make(at: number, after: Element | null): HTMLElement | undefined {
    const line = this.#lines.line(at);
    if (line === undefined) return undefined;
    const element = row(line, this.#lines.number(at), this.#look);
    element.classList.toggle("log-current", at === this.#current);
    this.#drawn.set(at, element);
    this.#rows.insertBefore(element, after);
    return element;
  }

  #forget(at: number): void {
    this.#drawn.get(at)?.remove();
    this.#drawn.delete(at);
  }

  /** Wide characters make lines higher than estimated. */
  #correct(): void {
    let changed = false;
    for (const [at, element] of this.#drawn) {
      const rows = Math.max(1, Math.round(element.getBoundingClientRect().height / this.#rowHeight));
      if (rows === this.#heights.of(at)) continue;
      this.#heights.set(at, rows);
      changed = true;
    }
    if (!changed) return;
    this.#size();
    if (this.follows) this.toEnd();
    this.#draw();
  }
}
