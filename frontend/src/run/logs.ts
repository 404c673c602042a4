// The logs tab: a toolbar above the lines.

import { h, icon } from "../core/dom";
import { onKeys } from "../core/keys";
import { t } from "../core/texts";
import { Finder } from "./log/finder";
import { Lines } from "./log/lines";
import { LogReader, query, type Choice } from "./log/reader";
import { TIMES, type Times } from "./log/times";
import { LogView } from "./log/view";
import type { Tab } from "./tab";

/** Maximum number of lines kept in the browser; the download has the whole log. */
const MOST_LINES = 300_000;
/** Of a log with more bytes than this, only the last lines are read at first. */
const LONG = 24 << 20;
/** Maximum number of lines per stream for such a log. */
const TAIL = 20_000;
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

class LogPanel {
  readonly #lines = new Lines();
  readonly #finder = new Finder(this.#lines);
  readonly #view: LogView;
  readonly #choice: Choice;
  readonly #find = h("input", { class: "input", type: "search", placeholder: t("run.log-find"), "aria-label": t("run.log-find") });
  readonly #pattern = toggle(".*", t("run.log-pattern"), false);
  readonly #found = h("span", { class: "log-found number", role: "status" });
  readonly #follow = toggle(t("run.log-follow"), t("run.log-follow"), true);
  readonly #wrap = toggle(t("run.log-wrap"), t("run.log-wrap"), localStorage.getItem(WRAP) === "on");
  readonly #times = choice();
  readonly #status = h("span", { class: "log-status number" });
  readonly #note = h("p", { class: "log-note", role: "status", hidden: true });
  readonly #stopKeys: () => void;
  #reader: LogReader | undefined;
  #closed = false;
  #goesOn = true;
  /** The first line that arrived since the last rendering. */
  #fresh: number | undefined;

  constructor(panel: HTMLElement, run: string, inside: Document | HTMLElement = document) {
    const data = panel.dataset;
    const part = (name: string): string => data[name] ?? "";
    this.#choice = {
      run,
      task: part("task"),
      instance: part("instance"),
      attempt: part("attempt"),
      worker: part("worker"),
      stream: part("stream"),
    };
    const label = t("run.log-label", { task: this.#choice.task });
    const box = h("div", { class: "log-box", tabindex: 0, role: "region", "aria-label": label });
    panel.append(this.#bar(), this.#note, box, h("p", { class: "muted small for-keys" }, t("run.log-keys")));
    this.#view = new LogView(box, this.#lines);
    this.#view.onFollow = (follows) => { this.#setFollow(follows); };
    this.#view.dress({ named: data["named"] !== undefined, begin: Date.parse(data["begin"] ?? "") || 0 });
    this.#view.wrap(isOn(this.#wrap));
    this.#setFollow(true);
    this.#stopKeys = this.#keys(inside);
    void this.#begin();
  }

  #bar(): HTMLElement {
    const previous = small("arrow-left", t("run.log-previous"), () => { this.#step(-1); });
    const next = small("arrow-right", t("run.log-next"), () => { this.#step(1); });
    this.#find.addEventListener("input", () => { this.#ask(); });
    this.#find.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.#step(event.shiftKey ? -1 : 1);
    });
    this.#pattern.addEventListener("click", () => { this.#ask(); });
    this.#follow.addEventListener("click", () => { this.#setFollow(isOn(this.#follow)); });
    this.#wrap.addEventListener("click", () => {
      localStorage.setItem(WRAP, isOn(this.#wrap) ? "on" : "off");
      this.#view.wrap(isOn(this.#wrap));
    });
    this.#times.addEventListener("change", () => {
      localStorage.setItem(SHOWN_TIMES, this.#times.value);
      this.#showTimes();
    });
    const href = `/api/v1/runs/${this.#choice.run}/logs/download?${query(this.#choice)}`;
    const download = h("a", { class: "button small", href, download: true }, icon("download"), t("run.log-download"));
    return h(
      "div",
      { class: "log-bar" },
      h("div", { class: "search" }, icon("search"), this.#find),
      this.#pattern, previous, next, this.#found,
      h("span", { class: "log-space" }),
      this.#status, this.#times, this.#follow, this.#wrap, download,
    );
  }

  /** Stops reading and listening. */
  close(): void {
    this.#closed = true;
    this.#stopKeys();
    this.#reader?.close();
  }

  #keys(inside: Document | HTMLElement): () => void {
    return onKeys({
      "/": () => { this.#find.focus(); },
      n: () => { this.#step(1); },
      p: () => { this.#step(-1); },
      f: () => { this.#follow.click(); },
      w: () => { this.#wrap.click(); },
      t: () => { this.#nextTimes(); },
      G: () => { this.#setFollow(true); },
    }, inside);
  }

  #read(): LogReader {
    return new LogReader(this.#choice, {
      text: (source, text, times) => { this.#take(this.#lines.append(source, text, times)); },
      caughtUp: (goesOn) => {
        this.#goesOn = goesOn;
        this.#draw();
        if (this.#lines.count >= MOST_LINES) this.#say(t("run.log-full", { n: this.#lines.count }));
      },
      ended: () => {
        this.#goesOn = false;
        this.#draw();
        if (this.#lines.count === 0) this.#say(t("run.log-empty"));
      },
      enough: () => this.#lines.count >= MOST_LINES,
      failed: (message) => { this.#say(message); },
    });
  }

  /** A long log is read from near its end; the user can load its beginning. */
  async #begin(): Promise<void> {
    let reader = this.#read();
    const long = (await reader.length().catch(() => 0)) > LONG;
    this.#reader = reader;
    // It may have been closed meanwhile, which the compiler cannot see.
    if (this.#closed) return;
    if (long) {
      const whole = h("button", { class: "button small", type: "button" }, t("run.log-from-start"));
      whole.addEventListener("click", () => {
        reader.close();
        this.#note.hidden = true;
        this.#lines.clear();
        this.#view.clear();
        this.#setFollow(false);
        reader = this.#read();
        this.#reader = reader;
        void reader.start();
      });
      this.#note.replaceChildren(t("run.log-cut"), " ", whole);
      this.#note.hidden = false;
    }
    await reader.start(long ? TAIL : undefined);
  }

  #showTimes(): void {
    this.#view.dress({ times: this.#times.disabled ? "none" : (this.#times.value as Times) });
    if (isOn(this.#follow)) this.#view.toEnd();
  }

  #nextTimes(): void {
    if (this.#times.disabled) return;
    this.#times.selectedIndex = (this.#times.selectedIndex + 1) % TIMES.length;
    this.#times.dispatchEvent(new Event("change"));
  }

  /** Chunks that arrive together are rendered once. */
  #take(first: number): void {
    if (this.#fresh === undefined) requestAnimationFrame(() => { this.#draw(); });
    this.#fresh = Math.min(first, this.#fresh ?? first);
  }

  #draw(): void {
    if (this.#fresh !== undefined) {
      this.#finder.grown(this.#fresh);
      // Old logs have no times to show.
      if (this.#times.disabled && this.#lines.time(this.#fresh) !== undefined) {
        this.#times.disabled = false;
        this.#showTimes();
      }
      this.#view.appended(this.#fresh);
      this.#fresh = undefined;
      this.#showFound();
    }
    const state = this.#goesOn ? t("run.log-live") : t("run.log-ended");
    this.#status.textContent = `${t("run.log-lines", { n: this.#lines.count.toLocaleString() })} · ${state}`;
  }

  #say(text: string): void {
    this.#note.textContent = text;
    this.#note.hidden = false;
  }

  #setFollow(on: boolean): void {
    this.#follow.setAttribute("aria-pressed", String(on));
    this.#view.follows = on;
    if (on) this.#view.toEnd();
  }

  #ask(): void {
    this.#finder.ask({ text: this.#find.value, pattern: isOn(this.#pattern) }, this.#view.first());
    this.#mark();
  }

  #step(direction: 1 | -1): void {
    this.#finder.step(direction);
    this.#mark();
  }

  #mark(): void {
    if (this.#finder.line >= 0) this.#setFollow(false);
    this.#view.mark(this.#finder.wanted, this.#finder.line);
    this.#showFound();
  }

  #showFound(): void {
    const { bad, count, place, wanted } = this.#finder;
    this.#find.setAttribute("aria-invalid", String(bad));
    if (bad) this.#found.textContent = t("run.log-bad-pattern");
    else if (wanted === undefined) this.#found.textContent = "";
    else this.#found.textContent = count === 0 ? t("run.log-found-none") : t("run.log-found", { at: place, n: count });
  }
}

function isOn(button: HTMLElement): boolean {
  return button.getAttribute("aria-pressed") === "true";
}

/** A toggle button; its own listener runs first, so later ones see the new state. */
function toggle(label: string, title: string, on: boolean): HTMLButtonElement {
  const button = h("button", { class: "button small toggle", type: "button", title, "aria-label": title, "aria-pressed": String(on) }, label);
  button.addEventListener("click", () => { button.setAttribute("aria-pressed", String(!isOn(button))); });
  return button;
}

/** The time format; disabled until a line has a time. */
function choice(): HTMLSelectElement {
  const words = { none: t("run.log-times-none"), clock: t("run.log-times-clock"), since: t("run.log-times-since") };
  const kept = localStorage.getItem(SHOWN_TIMES);
  const options = TIMES.map((value) => h("option", { value, selected: value === kept }, words[value]));
  return h("select", { class: "input log-times", "aria-label": t("run.log-times"), disabled: true }, ...options);
}

function small(name: string, label: string, onclick: () => void): HTMLButtonElement {
  return h("button", { class: "button small quiet icon-only", type: "button", "aria-label": label, title: label, onclick }, icon(name));
}
