// The logs tab: a toolbar above the lines.

import { h, icon } from "../core/dom";
import { onKeys } from "../core/keys";
import { t } from "../core/texts";
import { bytes } from "../core/time";
import { action, isOn, remembered, timesChoice, toggle } from "./log/bar";
import { Lines } from "./log/lines";
import type { Match } from "./log/matches";
import { LogReader, query, type Choice } from "./log/reader";
import { LogSearch } from "./log/searching";
import type { Times } from "./log/times";
import { LogView } from "./log/view";
import type { Tab } from "./tab";

const WRAP = "cubeloom.log-wrap";
const SHOWN_TIMES = "cubeloom.log-times";

/** Opens the tab; the log may appear later, with the task's first attempt. */
export function open(run: string): Tab {
  let panel: LogPanel | undefined;
  const begin = (): void => {
    const box = document.querySelector<HTMLElement>("#log");
    if (box !== null && panel === undefined) panel = new LogPanel(box, run);
  };
  begin();
  return { refreshed: begin };
}

/**
 * Shows the log named in a box's `data-` attributes, on a page with other shortcuts: the log's work inside of
 * the box.
 */
export function openLog(box: HTMLElement, run: string): { close: () => void } {
  const panel = new LogPanel(box, run, box);
  box.querySelector<HTMLElement>(".log-box")?.focus();
  return panel;
}

/** The log that a box's `data-` attributes name. */
function chosen({ dataset }: HTMLElement, run: string): Choice {
  const part = (name: string): string => dataset[name] ?? "";
  return { run, task: part("task"), instance: part("instance"), attempt: part("attempt"), worker: part("worker"), stream: part("stream") };
}

/** The width of numbers up to this one; 0 if there are none. */
function digitsOf(highest: number): number {
  return highest === 0 ? 0 : String(highest).length;
}

class LogPanel {
  readonly #lines = new Lines();
  readonly #choice: Choice;
  readonly #reader: LogReader;
  readonly #search: LogSearch;
  readonly #view: LogView;
  readonly #follow = toggle(t("run.log-follow"), t("run.log-follow"), true);
  readonly #wrap = remembered(WRAP, t("run.log-wrap"), t("run.log-wrap"), false);
  readonly #times = timesChoice(SHOWN_TIMES);
  readonly #status = h("span", { class: "log-status number" });
  readonly #note = h("p", { class: "log-note", role: "status", hidden: true });
  readonly #toStart = action(t("run.log-to-start"), () => { this.#start(); });
  readonly #toEnd = action(t("run.log-to-end"), () => { this.#setFollow(true); });
  readonly #rest = h("p", { class: "log-note log-rest", hidden: true }, h("span", {}, t("run.log-more")), this.#toStart, this.#toEnd);
  readonly #stopKeys: () => void;
  /** The first line that arrived since the last rendering. */
  #fresh: number | undefined;
  #digits = 0;

  constructor(panel: HTMLElement, run: string, inside: Document | HTMLElement = document) {
    const named = panel.dataset["named"] !== undefined;
    this.#choice = chosen(panel, run);
    const label = t("run.log-label", { task: this.#choice.task });
    const box = h("div", { class: "log-box", tabindex: 0, role: "region", "aria-label": label });
    this.#view = new LogView(box, this.#lines);
    this.#reader = this.#read();
    this.#search = new LogSearch({ choice: this.#choice, lines: this.#lines, reader: this.#reader, named }, {
      go: (match) => void this.#go(match),
      marked: () => { this.#mark(); },
      learned: () => {
        this.#dress();
        this.#showState();
      },
      first: () => this.#view.first(),
    });
    const keys = h("p", { class: "muted small for-keys" }, t("run.log-keys"));
    panel.append(this.#bar(), this.#note, this.#rest, this.#search.results, box, keys);
    this.#view.onFollow = (atEnd) => { this.#scrolled(atEnd); };
    this.#view.onStart = () => void this.#reader.earlier();
    this.#view.dress({ named, begin: Date.parse(panel.dataset["begin"] ?? "") || 0 });
    this.#view.wrap(isOn(this.#wrap));
    this.#showFollow(true);
    this.#stopKeys = this.#keys(inside);
    void this.#reader.open();
  }

  #bar(): HTMLElement {
    this.#follow.addEventListener("click", () => { this.#setFollow(isOn(this.#follow)); });
    this.#wrap.addEventListener("click", () => { this.#view.wrap(isOn(this.#wrap)); });
    this.#times.addEventListener("change", () => { this.#dress(); });
    const href = `/api/v1/runs/${this.#choice.run}/logs/download?${query(this.#choice)}`;
    const download = h("a", { class: "button small", href, download: true }, icon("download"), t("run.log-download"));
    const space = h("span", { class: "log-space" });
    return h("div", { class: "log-bar" }, ...this.#search.controls, space, this.#status, this.#times, this.#follow, this.#wrap, download);
  }

  /** Stops reading and listening. */
  close(): void {
    this.#stopKeys();
    this.#search.close();
    this.#reader.close();
  }

  #keys(inside: Document | HTMLElement): () => void {
    return onKeys({
      "/": () => { this.#search.focus(); },
      n: () => void this.#search.step(1),
      p: () => void this.#search.step(-1),
      F3: (event) => void this.#search.step(event.shiftKey ? -1 : 1),
      e: () => void this.#search.firstError(),
      f: () => { this.#follow.click(); },
      w: () => { this.#wrap.click(); },
      t: () => { this.#nextTimes(); },
      g: () => { this.#start(); },
      G: () => { this.#setFollow(true); },
    }, inside);
  }

  #read(): LogReader {
    return new LogReader(this.#choice, this.#lines, {
      appended: (first) => { this.#take(first); },
      prepended: (count) => { this.#prepended(count); },
      replaced: (line) => { this.#replaced(line); },
      moved: () => { this.#draw(); },
      follows: () => isOn(this.#follow),
      failed: (message) => { this.#say(message); },
    });
  }

  /** Chunks that arrive together are rendered once. */
  #take(first: number): void {
    if (this.#fresh === undefined) requestAnimationFrame(() => { this.#draw(); });
    this.#fresh = Math.min(first, this.#fresh ?? first);
  }

  #prepended(count: number): void {
    if (this.#fresh !== undefined) this.#fresh += count;
    this.#view.prepended(count);
    this.#search.prepended(count);
    this.#number();
  }

  #replaced(line: number): void {
    this.#fresh = undefined;
    this.#note.hidden = true;
    this.#view.replaced(line);
    this.#search.replaced();
    this.#number();
    this.#mark();
    this.#allowTimes(0);
  }

  #draw(): void {
    const fresh = this.#fresh;
    this.#fresh = undefined;
    if (fresh !== undefined) {
      this.#search.grown(fresh);
      this.#allowTimes(fresh);
      this.#view.appended(fresh);
      this.#number();
    }
    this.#showState();
  }

  #showState(): void {
    const state = this.#reader.isEnded ? t("run.log-ended") : t("run.log-live");
    this.#status.textContent = this.#reader.isAtEnd ? `${this.#loaded()} · ${state}` : this.#loaded();
    const { isWhole, isAtStart, isApart, isOpening } = this.#reader;
    this.#rest.hidden = isWhole || isOpening || this.#lines.count === 0;
    this.#toStart.hidden = isAtStart;
    this.#toEnd.hidden = !isApart;
    if (this.#reader.isEnded && isWhole && this.#lines.count === 0) this.#say(t("run.log-empty"));
  }

  /** How much of the log is loaded. */
  #loaded(): string {
    const { isWhole, isOpening, isAtStart, isAtEnd, total } = this.#reader;
    const n = this.#lines.count.toLocaleString();
    if (isWhole || isOpening || this.#lines.count === 0) return t("run.log-lines", { n });
    const all = this.#search.counted(total);
    const part = all === undefined
      ? t("run.log-part-bytes", { n, size: bytes(this.#lines.bytes), total: bytes(Math.max(total, this.#lines.bytes)) })
      : t("run.log-part-lines", { n, all: all.toLocaleString() });
    if (isAtEnd) return t("run.log-last", { part });
    return isAtStart ? t("run.log-first", { part }) : part;
  }

  /** Line numbers take as much room as the largest one. */
  #number(): void {
    if (this.#digits !== digitsOf(this.#lines.highest)) this.#dress();
  }

  /** Renders the lines again, as the user wants them. */
  #dress(): void {
    this.#digits = digitsOf(this.#lines.highest);
    this.#view.dress({ digits: this.#digits, times: this.#times.disabled ? "none" : (this.#times.value as Times) });
    if (isOn(this.#follow)) this.#view.toEnd();
  }

  /** Old logs have no times to show. */
  #allowTimes(line: number): void {
    if (!this.#times.disabled || this.#lines.time(line) === undefined) return;
    this.#times.disabled = false;
    this.#dress();
  }

  #nextTimes(): void {
    if (this.#times.disabled) return;
    this.#times.selectedIndex = (this.#times.selectedIndex + 1) % this.#times.options.length;
    this.#times.dispatchEvent(new Event("change"));
  }

  #say(text: string): void {
    this.#note.textContent = text;
    this.#note.hidden = false;
  }

  #showFollow(on: boolean): void {
    this.#follow.ariaPressed = String(on);
    this.#view.follows = on;
    if (on) this.#view.toEnd();
  }

  /** Follows the end of the log, which may have to be loaded. */
  #setFollow(on: boolean): void {
    this.#showFollow(on);
    if (on && this.#reader.isApart) void this.#reader.toEnd();
  }

  /** The user has scrolled to the end of what is loaded, or away from it. */
  #scrolled(atEnd: boolean): void {
    if (!atEnd || !this.#reader.isApart) this.#showFollow(atEnd);
    else void this.#reader.later();
  }

  #start(): void {
    this.#showFollow(false);
    if (this.#reader.isAtStart) this.#view.show(0);
    else void this.#reader.toStart();
  }

  #mark(): void {
    const { wanted, current } = this.#search;
    this.#view.mark(wanted, current === undefined ? -1 : this.#lines.find(current));
  }

  /** Shows a match; what is around it is loaded if it is not. */
  async #go(match: Match): Promise<void> {
    this.#showFollow(false);
    const isMissing = (): boolean => match === this.#search.current && this.#lines.find(match) < 0;
    if (isMissing()) await this.#reader.around(match.cursor);
    for (let had = -1; isMissing() && this.#lines.count > had;) {
      had = this.#lines.count;
      await this.#reader.later();
    }
    if (match !== this.#search.current) return;
    this.#draw();
    this.#mark();
    const line = this.#lines.find(match);
    if (line >= 0) this.#view.show(line);
  }
}
