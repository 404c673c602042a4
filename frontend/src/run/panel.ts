// The task panel: the main part of a task's own page, shown beside the current one. The URL contains it
// (`#task/<name>`), so that it can be shared and survives a reload.

import { loadPage } from "../api/page";
import { around, h, icon, need } from "../core/dom";
import { t } from "../core/texts";
import { paintTimes } from "../core/time";
import { morph } from "./morph";

const HASH = "#task/";

export class TaskPanel {
  readonly #box = need("#task-panel");
  readonly #run: string;
  #url = "";
  #before: Element | null = null;

  constructor(run: string) {
    this.#run = run;
    document.addEventListener("click", (event) => { this.#clicked(event); });
    this.#box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
    window.addEventListener("hashchange", () => { this.#follow(); });
    this.#follow();
  }

  /** Whether a task is shown. */
  get isOpen(): boolean {
    return !this.#box.hidden;
  }

  /** Opens a task by its name; `focus` moves the focus there. */
  open(task: string, focus = true): void {
    if (this.#box.hidden) this.#before = document.activeElement;
    history.replaceState(null, "", HASH + encodeURIComponent(task));
    this.#follow(focus);
  }

  /** Closes it, and restores the focus. */
  close(): void {
    if (this.#box.hidden) return;
    this.#box.hidden = true;
    this.#box.replaceChildren();
    this.#url = "";
    history.replaceState(null, "", location.pathname + location.search);
    if (this.#before instanceof HTMLElement || this.#before instanceof SVGElement) this.#before.focus();
  }

  /** Reloads it. */
  refresh(): void {
    if (this.#url !== "") void this.#load(this.#url, false);
  }

  #follow(focus = true): void {
    if (!location.hash.startsWith(HASH)) {
      this.close();
      return;
    }
    const task = location.hash.slice(HASH.length);
    void this.#load(`/runs/${this.#run}/tasks/${task}`, focus);
  }

  #clicked(event: MouseEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    const link = around(event, "a[data-task], a[data-part]");
    if (!(link instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    const task = link.dataset["task"];
    if (task !== undefined) this.open(task);
    else void this.#load(new URL(link.getAttribute("href") ?? "", new URL(this.#url, location.href)).href, false);
  }

  async #load(url: string, focus: boolean): Promise<void> {
    this.#url = url;
    // If the server is unreachable, the event stream reports that.
    const page = await loadPage(url).catch(() => null);
    const fresh = page?.getElementById("task") ?? null;
    // Another task may have been opened meanwhile.
    if (fresh === null || this.#url !== url) return;
    this.#show(fresh, focus);
  }

  #show(fresh: HTMLElement, focus: boolean): void {
    const old = this.#box.querySelector("#task");
    if (old?.getAttribute("data-task") === fresh.dataset["task"] && old !== null) {
      morph(old, fresh);
    } else {
      const close = h(
        "button",
        { class: "button quiet icon-only panel-close", type: "button", "aria-label": t("run.close"), onclick: () => { this.close(); } },
        icon("close"),
      );
      this.#box.replaceChildren(close, document.importNode(fresh, true));
    }
    paintTimes(this.#box);
    this.#box.hidden = false;
    if (focus) need("#task-title", this.#box).focus();
  }
}
