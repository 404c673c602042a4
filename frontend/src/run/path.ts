// The critical path on the graph and the Gantt tab: a toggle, the path in words, and what would shorten the run.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import type { Schema } from "../api/typed";
import { h, need } from "../core/dom";
import { prose } from "../core/prose";
import { t } from "../core/texts";
import { duration } from "../core/time";
import { isOn, remembered } from "./log/bar";

type CriticalPath = Schema<"CriticalPathView">;
export type PathTask = CriticalPath["tasks"][number];

/** More tasks than this are shortened in the middle. */
const NAMED = 6;
/** Shorter waits are not worth a word, in seconds. */
const SHORT = 1;

/** Shows the path while its toggle is on, and loads it only then. */
export class PathPart {
  readonly #run: string;
  readonly #mark: (tasks: readonly PathTask[]) => void;
  readonly #text = h("div", { class: "run-path-text" });
  readonly #toggle = remembered("run-path", t("run.path"), t("run.path-show"), false);
  #busy = false;
  #again = false;

  /** `mark` gets the tasks to mark in the drawing; none while the toggle is off. */
  constructor(run: string, mark: (tasks: readonly PathTask[]) => void) {
    this.#run = run;
    this.#mark = mark;
    need("#run-path").replaceChildren(this.#toggle, this.#text);
    this.#toggle.addEventListener("click", () => { this.refreshed(); });
    if (isOn(this.#toggle)) this.refreshed();
  }

  /** Called when the path may have changed. */
  refreshed(): void {
    if (isOn(this.#toggle)) void this.#load();
    else if (this.#text.hasChildNodes()) this.#show([], []);
  }

  async #load(): Promise<void> {
    this.#again = this.#busy;
    if (this.#busy) return;
    this.#busy = true;
    try {
      const { data } = await request("GET", `/runs/${this.#run}/critical-path`);
      if (isOn(this.#toggle)) this.#show(data.tasks, said(data));
    } catch (error) {
      // The page itself reports an unreachable server; the last path stays.
      if (error instanceof ApiProblem) this.#show([], [h("p", { class: "muted" }, ...prose(error.message))]);
    }
    this.#busy = false;
    if (this.#again) this.refreshed();
  }

  #show(tasks: readonly PathTask[], text: readonly HTMLElement[]): void {
    this.#text.replaceChildren(...text);
    this.#mark(tasks);
  }
}

function said(path: CriticalPath): HTMLElement[] {
  const names = path.tasks.filter(({ seconds }) => seconds > 0).map(({ task }) => task);
  if (names.length === 0) return [h("p", { class: "muted" }, t("run.path-none"))];
  const values = { tasks: chain(names), time: duration(path.path_seconds), whole: duration(path.seconds) };
  const line = path.waiting_seconds < SHORT
    ? t("run.path-line", values)
    : t("run.path-line-waiting", { ...values, waiting: duration(path.waiting_seconds) });
  const hints = path.hints.map(({ kind, message }) => h("li", { "data-kind": kind }, ...prose(message)));
  return [h("p", { class: "run-path-line" }, line), h("ul", { class: "run-path-hints" }, ...hints)];
}

/** The names in order; of many, the first and the last ones. */
export function chain(names: readonly string[]): string {
  const half = NAMED / 2;
  const shown = names.length > NAMED ? [...names.slice(0, half), "…", ...names.slice(-half)] : names;
  return shown.join(" → ");
}
