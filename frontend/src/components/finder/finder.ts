//! The finder: a dialog with a search field and a list of pages, pipelines, runs, and what the page itself
//! offers. Arrows move, Enter opens, Escape closes.

import { all, around, h, icon } from "../../core/dom";
import { t } from "../../core/texts";
import type { Entry, Section } from "./entry";
import { textOf } from "./held";
import { pages, tasksOfRun } from "./places";
import { Remote } from "./remote";
import { shown, type Shown } from "./sections";
import { isKey } from "./watch";

const LIST = "finder-list";

/** Opens it. `own` are the page's own sections, `held` the keys that were pressed before. */
export function showFinder(own: readonly Section[], held: readonly string[]): void {
  new Finder(own).open(held);
}

class Finder {
  readonly #own: readonly Section[];
  readonly #places: Section[] = [pages()];
  readonly #remote = new Remote(() => { this.#show(); });
  readonly #field = h("input", {
    class: "input pick-field", role: "combobox", "aria-label": t("finder.label"), "aria-controls": LIST, "aria-expanded": "true",
    "aria-autocomplete": "list", placeholder: t("finder.label"), autocomplete: "off", autocapitalize: "none", spellcheck: "false", enterkeyhint: "go",
  });
  readonly #list = h("div", { class: "pick", id: LIST, role: "listbox", "aria-label": t("common.search") });
  readonly #none = h("p", { class: "pick-none", hidden: true });
  readonly #count = h("p", { class: "visually-hidden", role: "status" });
  readonly #dialog = h(
    "dialog",
    { class: "finder", "aria-label": t("common.search") },
    h("div", { class: "finder-body" }, this.#field, this.#list, this.#none, this.#count),
  );
  #entries: readonly Entry[] = [];
  #at = 0;
  /** Until the tasks of the run are there. */
  #isLoading = true;
  /** Whether the person has moved in the list: then the chosen entry stays when others arrive. */
  #isMoved = false;
  /** Whether Enter was pressed before the results were there. */
  #isTaken = false;
  /** Whether the first entry is the page's own: no result of the server comes before it. */
  #isOwn = false;

  constructor(own: readonly Section[]) {
    this.#own = own;
    this.#field.addEventListener("input", () => { this.#typed(); });
    this.#field.addEventListener("keydown", (event) => { this.#pressed(event); });
    this.#list.addEventListener("pointermove", (event) => { this.#aimed(event); });
    this.#list.addEventListener("click", (event) => {
      this.#aimed(event);
      if (around(event, "[role=option]")) this.#take();
    });
    // Outside of the dialog's content is its backdrop.
    this.#dialog.addEventListener("pointerdown", (event) => { if (event.target === this.#dialog) this.#dialog.close(); });
    this.#dialog.addEventListener("close", () => {
      this.#remote.stop();
      this.#dialog.remove();
    });
  }

  open(held: readonly string[]): void {
    document.body.append(this.#dialog);
    this.#dialog.showModal();
    this.#field.focus();
    this.#field.value = textOf(held);
    this.#typed();
    if (held.includes("Enter")) this.#enter();
    void this.#addTasks();
  }

  async #addTasks(): Promise<void> {
    // If the server cannot be reached, the search says so.
    const tasks = await tasksOfRun().catch(() => null);
    if (tasks) this.#places.push(tasks);
    this.#isLoading = false;
    this.#show();
  }

  get #text(): string {
    return this.#field.value.trim();
  }

  /** Whether entries for this text are still to come. */
  get #isPending(): boolean {
    return this.#isLoading || this.#remote.isPending(this.#text);
  }

  #typed(): void {
    this.#at = 0;
    this.#isMoved = false;
    this.#isTaken = false;
    this.#remote.search(this.#text);
    this.#show();
  }

  #show(): void {
    const own = shown(this.#own, [], this.#text);
    const sections = [...own, ...shown([], [...this.#places, ...this.#remote.sections(this.#text)], this.#text)];
    const chosen = this.#isMoved ? this.#entries[this.#at]?.id : undefined;
    this.#entries = sections.flatMap(({ entries }) => entries);
    this.#isOwn = own.length > 0;
    this.#at = Math.max(0, this.#entries.findIndex(({ id }) => id === chosen));
    this.#list.replaceChildren(...groups(sections));
    this.#say();
    this.#mark();
    if (this.#isTaken && !this.#isPending) this.#take();
  }

  #say(): void {
    this.#list.ariaBusy = String(this.#isPending);
    this.#none.hidden = this.#isPending || (this.#entries.length > 0 && this.#remote.failed === null);
    this.#none.textContent = this.#remote.failed ?? t("finder.none");
    if (!this.#isPending) this.#count.textContent = t("finder.count", { n: this.#entries.length });
  }

  #mark(): void {
    const options = all("[role=option]", this.#list);
    for (const [at, option] of options.entries()) option.ariaSelected = String(at === this.#at);
    const chosen = options[this.#at];
    if (chosen) this.#field.setAttribute("aria-activedescendant", chosen.id);
    else this.#field.removeAttribute("aria-activedescendant");
    // With its title, if it is the first one.
    if (this.#at === 0) this.#list.scrollTop = 0;
    else chosen?.scrollIntoView({ block: "nearest" });
  }

  #move(to: number): void {
    const count = this.#entries.length;
    if (count === 0) return;
    this.#at = (to + count) % count;
    this.#isMoved = true;
    this.#isTaken = false;
    this.#mark();
  }

  #aimed(event: MouseEvent): void {
    const option = around(event, "[role=option]");
    const at = option ? all("[role=option]", this.#list).indexOf(option) : -1;
    if (at >= 0 && at !== this.#at) this.#move(at);
  }

  #pressed(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") this.#move(this.#at + 1);
    else if (event.key === "ArrowUp") this.#move(this.#at - 1);
    else if (event.key === "Enter") this.#enter();
    else if (isKey(event)) this.#dialog.close();
    else return;
    event.preventDefault();
  }

  // Enter right after a name means the best match, which may still be on its way.
  #enter(): void {
    if (this.#isMoved || this.#isOwn || !this.#isPending) this.#take();
    else this.#isTaken = true;
  }

  #take(): void {
    const entry = this.#entries[this.#at];
    this.#isTaken = false;
    if (!entry || entry.refusal) return;
    // This restores the focus, which the entry may move.
    this.#dialog.close();
    if (typeof entry.to === "string") location.assign(entry.to);
    else entry.to();
  }
}

function groups(sections: readonly Shown[]): HTMLElement[] {
  let count = 0;
  return sections.map(({ title, entries }, at) => {
    const id = `${LIST}-title-${at}`;
    const options = entries.map((entry) => option(entry, count++));
    return h("div", { role: "group", "aria-labelledby": id }, h("div", { class: "pick-title", id, role: "presentation" }, title), ...options);
  });
}

function option({ label, detail, icon: sign, keys, refusal }: Entry, at: number): HTMLElement {
  const more = refusal ?? detail;
  return h(
    "div",
    { class: "pick-line", id: `${LIST}-${at}`, role: "option", "aria-selected": "false", "aria-disabled": refusal ? "true" : null },
    sign !== undefined && icon(sign),
    h("span", { class: "pick-words" }, h("span", {}, label), more !== undefined && h("span", { class: "pick-detail" }, more)),
    keys && h("span", { class: "keys" }, ...keys.map((key) => h("kbd", {}, key))),
  );
}
