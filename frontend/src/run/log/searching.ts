// Search in a log: at once in the loaded lines, then on the server in all others.

import { h, icon } from "../../core/dom";
import { t } from "../../core/texts";
import { bytes } from "../../core/time";
import { action, isOn, remembered, small, toggle } from "./bar";
import { Finder } from "./finder";
import type { Lines } from "./lines";
import { MatchList } from "./list";
import { isSame, keyOf, matchAt, merged, nearest, type Match } from "./matches";
import type { Choice, LogReader } from "./reader";
import { Remote, type Wanted } from "./remote";
import { summaryOf } from "./summary";

/** Time after the last key until the server is asked. */
const WAIT_MS = 300;
/** A search stops by itself after this many matches, or requests; each request takes a few seconds at most. */
const ENOUGH = 1000;
const ROUNDS = 12;
const LISTED = "cubeloom.log-matches";

/** Callbacks of a search. */
export interface SearchEvents {
  /** Shows a match, which may not be loaded. */
  go: (match: Match) => void;
  /** What is marked has changed. */
  marked: () => void;
  /** Numbers of lines may have become known, or how many there are. */
  learned: () => void;
  /** The first visible line. */
  first: () => number;
}

/** The log that is searched. */
export interface Searched {
  readonly choice: Choice;
  readonly lines: Lines;
  readonly reader: LogReader;
  /** Whether lines name their worker. */
  readonly named: boolean;
}

export class LogSearch {
  readonly #log: Searched;
  readonly #on: SearchEvents;
  readonly #finder: Finder;
  readonly #local = new Map<string, Match>();
  #remote: Remote | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What the server is asked after the timer. */
  #pending: Wanted | undefined;
  #matches: readonly Match[] = [];
  #current: Match | undefined;
  #forErrors = false;
  /** What a complete search has counted. */
  #counted = { lines: 0, bytes: -1 };

  readonly #field = h("input", { class: "input", type: "search", placeholder: t("run.log-find"), "aria-label": t("run.log-find") });
  readonly #pattern = toggle(".*", t("run.log-pattern"), false);
  readonly #found = h("span", { class: "log-found number", role: "status" });
  readonly #error = action(t("run.log-first-error"), () => void this.firstError());
  readonly #listed = remembered(LISTED, t("run.log-matches"), t("run.log-list"), true);
  readonly #list = new MatchList((match) => { this.#choose(match); });
  readonly #rest = h("span");
  readonly #restRow = h("p", { class: "log-note", hidden: true }, this.#rest, " ", action(t("run.log-search-on"), () => void this.#more()));
  /** The matches, below the toolbar. */
  readonly results = h("div", { class: "log-results", hidden: true }, this.#restRow, this.#list.element);

  constructor(log: Searched, on: SearchEvents) {
    this.#log = log;
    this.#on = on;
    this.#finder = new Finder(log.lines);
    this.#field.addEventListener("input", () => { this.#ask(); });
    this.#field.addEventListener("keydown", (event) => { this.#key(event); });
    this.#pattern.addEventListener("click", () => { this.#ask(); });
    this.#listed.addEventListener("click", () => { this.#show(); });
  }

  /** The elements of the toolbar. */
  get controls(): HTMLElement[] {
    const previous = small("arrow-left", t("run.log-previous"), () => void this.step(-1));
    const next = small("arrow-right", t("run.log-next"), () => void this.step(1));
    return [h("div", { class: "search" }, icon("search"), this.#field), this.#pattern, previous, next, this.#found, this.#listed, this.#error];
  }

  /** What is marked in each line. */
  get wanted(): RegExp | undefined {
    return this.#finder.wanted;
  }

  /** The chosen match. */
  get current(): Match | undefined {
    return this.#current;
  }

  /** The number of lines of a log with this size, if it was counted. */
  counted(size: number): number | undefined {
    return this.#counted.bytes >= size ? this.#counted.lines : undefined;
  }

  focus(): void {
    this.#field.focus();
    this.#field.select();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#pending = undefined;
    this.#remote?.cancel();
    this.#remote = undefined;
    this.#error.ariaBusy = null;
  }

  /** Lines from this one on are new or have changed. */
  grown(from: number): void {
    this.#finder.grown(from);
    this.#collect(from);
    if (this.#isOn) this.#show();
  }

  /** This many lines were put before all others. */
  prepended(count: number): void {
    this.#finder.prepended(count);
    this.#collect(0, count);
    this.#learn();
    if (this.#isOn) this.#show();
  }

  /** Other lines are loaded. */
  replaced(): void {
    this.#finder.replaced();
    this.#learn();
    this.#collect(0);
    // A log that was loaded whole has become too long for that.
    if (this.#remote === undefined && this.#pending === undefined) this.#schedule();
    if (this.#isOn) this.#show();
  }

  /** Goes to the next (1) or the previous (-1) match. */
  async step(direction: 1 | -1): Promise<void> {
    if (this.#matches.length === 0) await this.#askServer();
    const from = this.#place();
    if (direction === 1 && this.#hasMoreAfter(from)) await this.#more();
    const { length } = this.#matches;
    const to = from < 0 ? this.#fromView(direction) : (this.#place() + direction + length) % length;
    const match = this.#matches[to];
    if (match !== undefined) this.#choose(match);
  }

  /** Finds the lines that look like errors, and goes to the first one. */
  async firstError(): Promise<void> {
    this.#begin("");
    this.#field.value = "";
    this.#forErrors = true;
    const remote = new Remote(this.#log.choice, { kind: "error" });
    this.#remote = remote;
    this.#error.ariaBusy = "true";
    this.#on.marked();
    if (!(await this.#searchUntil((found) => found > 0))) return;
    this.#error.ariaBusy = null;
    if (remote.matches[0] !== undefined) this.#choose(remote.matches[0]);
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Enter" || event.key === "F3") void this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && (this.#field.value !== "" || this.#forErrors)) {
      this.#field.value = "";
      this.#ask();
    } else return;
    event.preventDefault();
    // Escape would also close what the log is shown in.
    event.stopPropagation();
  }

  /** Whether something is searched for. */
  get #isOn(): boolean {
    return this.#forErrors || this.wanted !== undefined;
  }

  /** Forgets an earlier search, and searches the loaded lines. */
  #begin(text: string): void {
    this.close();
    this.#forErrors = false;
    this.#current = undefined;
    this.#local.clear();
    this.#finder.ask({ text, pattern: isOn(this.#pattern) });
    this.#collect(0);
    this.#matches = merged(undefined, [...this.#local.values()]);
  }

  #ask(): void {
    this.#begin(this.#field.value);
    this.#schedule();
    const { found } = this.#finder;
    const first = this.#on.first();
    const near = found.find((line) => line >= first) ?? found[0];
    const match = near === undefined ? undefined : matchAt(this.#log.lines, near);
    if (match !== undefined) {
      this.#choose(match);
      return;
    }
    this.#show();
    this.#on.marked();
  }

  /** Searches on the server soon, if not all of the log is loaded. */
  #schedule(): void {
    if (this.wanted === undefined || this.#log.reader.isWhole) return;
    this.#pending = { q: this.#field.value, regex: String(isOn(this.#pattern)), case: String(!this.wanted.ignoreCase) };
    this.#timer = setTimeout(() => void this.#askServer(), WAIT_MS);
  }

  /** Starts the pending search on the server. */
  async #askServer(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#pending === undefined) return;
    this.#remote = new Remote(this.#log.choice, this.#pending);
    this.#pending = undefined;
    await this.#searchUntil((found, rounds) => found >= ENOUGH || rounds >= ROUNDS);
  }

  /** Searches on the server until that is enough, or complete. Returns whether it was not cancelled. */
  async #searchUntil(isEnough: (found: number, rounds: number) => boolean): Promise<boolean> {
    const remote = this.#remote;
    for (let rounds = 1; ; rounds += 1) {
      if (!(await this.#more()) || remote === undefined) return false;
      if (remote.isComplete || remote.failure !== "" || isEnough(remote.matches.length, rounds)) return true;
    }
  }

  /** Searches on. Returns whether that was not cancelled. */
  async #more(): Promise<boolean> {
    const remote = this.#remote;
    if (remote === undefined) return false;
    const work = remote.more();
    this.#show();
    if (!(await work) || remote !== this.#remote) return false;
    if (remote.isComplete) this.#counted = { lines: remote.lines, bytes: remote.searched };
    this.#learn();
    this.#show();
    this.#on.learned();
    return true;
  }

  /** Takes matches in the loaded lines. */
  #collect(from: number, to = Infinity): void {
    for (const index of this.#finder.found) {
      const match = index < from || index >= to ? undefined : matchAt(this.#log.lines, index);
      if (match !== undefined) this.#local.set(keyOf(match), match);
    }
  }

  /** Numbers the loaded lines as the server has counted them. */
  #learn(): void {
    if (this.#log.lines.learn(this.#remote?.matches ?? [])) this.#collect(0);
  }

  #choose(match: Match): void {
    this.#current = match;
    this.#show();
    this.#on.go(match);
  }

  /** The index of the chosen match; -1 if there is none. */
  #place(): number {
    const current = this.#current;
    return current === undefined ? -1 : this.#matches.findIndex((match) => isSame(match, current));
  }

  #fromView(direction: 1 | -1): number {
    const line = matchAt(this.#log.lines, this.#on.first());
    if (line === undefined) return 0;
    return nearest(this.#matches, direction === 1 ? { ...line, offset: line.offset - 1 } : line, direction);
  }

  /** Whether the server may find matches between this one and the next. */
  #hasMoreAfter(index: number): boolean {
    const remote = this.#remote;
    if (remote === undefined || remote.isComplete || remote.failure !== "") return false;
    const [match, last] = [this.#matches[index], remote.matches.at(-1)];
    if (match === undefined) return this.#matches.length === 0;
    return match === this.#matches.at(-1) || (last !== undefined && isSame(match, last));
  }

  #show(): void {
    const remote = this.#remote;
    this.#matches = this.#forErrors ? (remote?.matches ?? []) : merged(remote?.matches, [...this.#local.values()]);
    const isBusy = this.#pending !== undefined || remote?.isBusy === true;
    const isPartial = remote !== undefined && !isBusy && !remote.isComplete;
    this.#field.ariaInvalid = String(this.#finder.bad);
    const summary = summaryOf({ count: this.#matches.length, place: this.#place() + 1, isBusy, isPartial, isBad: this.#finder.bad, isOn: this.#isOn, forErrors: this.#forErrors });
    // It is announced, once.
    if (this.#found.textContent !== summary) this.#found.textContent = summary;
    this.#rest.textContent = remote?.failure || t("run.log-searched", { size: bytes(remote?.searched ?? 0), total: bytes(this.#log.reader.total) });
    this.#restRow.hidden = !isPartial;
    this.#list.element.hidden = !isOn(this.#listed) || this.#matches.length === 0;
    this.results.hidden = this.#list.element.hidden && !isPartial;
    if (!this.#list.element.hidden) this.#list.show(this.#matches, this.#place(), { wanted: this.wanted, named: this.#log.named });
  }
}
