// The matches of a search as a list: the worker, the number and the text of each line.

import { h } from "../../core/dom";
import { t } from "../../core/texts";
import { plain } from "./ansi";
import { action } from "./bar";
import { keyOf, type Match } from "./matches";
import { spans } from "./search";

/** How many matches are listed at a time. */
const PART = 500;
/** How much of a line is shown, in characters, and how much of it before the match. */
const SHOWN = 400;
const BEFORE = 40;

/** How matches are shown. */
export interface ListLook {
  readonly wanted: RegExp | undefined;
  /** Whether lines name their worker. */
  readonly named: boolean;
}

export class MatchList {
  readonly element = h("ol", { class: "log-matches", "aria-label": t("run.log-matches") });
  readonly #choose: (match: Match) => void;
  readonly #earlier = h("li", { hidden: true }, action(t("run.log-matches-earlier"), () => { this.#turn(-PART); }));
  readonly #later = h("li", { hidden: true }, action(t("run.log-matches-later"), () => { this.#turn(PART); }));
  #rows: HTMLButtonElement[] = [];
  #signs: string[] = [];
  #matches: readonly Match[] = [];
  #look: ListLook = { wanted: undefined, named: false };
  #current = -1;
  /** Index of the first match that is listed. */
  #from = 0;

  constructor(choose: (match: Match) => void) {
    this.#choose = choose;
    this.element.append(this.#earlier, this.#later);
    this.element.addEventListener("keydown", (event) => { this.#move(event); });
  }

  /** Shows matches and the current one; -1 if there is none. */
  show(matches: readonly Match[], current: number, look: ListLook): void {
    const isOther = look.wanted !== this.#look.wanted || look.named !== this.#look.named;
    if (isOther) this.#signs = [];
    const moved = isOther || current !== this.#current;
    this.#matches = matches;
    this.#look = look;
    this.#current = current;
    if (moved || this.#from >= matches.length) this.#from = Math.max(0, current - (current % PART));
    this.#draw();
    if (moved) this.#reveal();
  }

  /** Lists other matches. */
  #turn(by: number): void {
    this.#from += by;
    this.#draw();
    this.element.scrollTop = 0;
    this.#rows[0]?.focus();
  }

  /** Only what has changed is drawn: matches are added while a log is written. */
  #draw(): void {
    const shown = this.#matches.slice(this.#from, this.#from + PART);
    for (const [index, match] of shown.entries()) {
      const sign = `${keyOf(match)} ${match.line ?? ""}`;
      if (this.#signs[index] === sign) continue;
      this.#signs[index] = sign;
      const row = this.#row(match);
      const item = this.#rows[index]?.parentElement;
      if (item) item.replaceChildren(row);
      else this.#later.before(h("li", {}, row));
      this.#rows[index] = row;
    }
    for (const row of this.#rows.splice(shown.length)) row.parentElement?.remove();
    this.#signs.length = shown.length;
    const current = this.#current - this.#from;
    const first = this.#rows[current] === undefined ? 0 : current;
    for (const [index, row] of this.#rows.entries()) {
      // Tab reaches one of them, the arrow keys the others.
      row.tabIndex = index === first ? 0 : -1;
      row.ariaCurrent = index === current ? "true" : null;
    }
    this.#earlier.hidden = this.#from === 0;
    this.#later.hidden = this.#matches.length <= this.#from + PART;
  }

  #row(match: Match): HTMLButtonElement {
    const { wanted, named } = this.#look;
    const number = h("span", { class: "log-match-line number" }, match.line?.toLocaleString() ?? "");
    const row = h("button", { class: "log-match", type: "button" }, named && h("span", { class: "log-match-worker" }, match.worker), number);
    row.append(excerpt(match.text, wanted));
    row.addEventListener("click", () => { this.#choose(match); });
    return row;
  }

  /** Arrow keys move between the matches. */
  #move(event: KeyboardEvent): void {
    const at = this.#rows.findIndex((row) => row === event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.#rows.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    this.#rows[to]?.focus();
  }

  /** Scrolls the list alone, not the page. */
  #reveal(): void {
    const row = this.#rows[Math.max(0, this.#current - this.#from)]?.parentElement;
    if (!row) return;
    const { element } = this;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  }
}

/** The text around the first match, with all matches marked. */
function excerpt(text: string, wanted: RegExp | undefined): HTMLElement {
  const whole = plain(text);
  const found = wanted ? spans(whole, wanted) : [];
  const start = Math.max(0, (found[0]?.from ?? 0) - BEFORE);
  const end = Math.min(whole.length, start + SHOWN);
  const shown = h("span", { class: "log-match-text" }, start > 0 && "…");
  let at = start;
  for (const { from, to } of found) {
    if (to > end) break;
    shown.append(whole.slice(at, from), h("mark", {}, whole.slice(from, to)));
    at = to;
  }
  shown.append(whole.slice(at, end));
  return shown;
}
