//! Compares the target clusters of a run: estimated start, run time and cost. The default is marked, and a
//! different target needs an explicit choice, for this run alone.

import { request } from "../api/client";
import type { Body, Schema } from "../api/typed";
import { all, h, icon } from "../core/dom";
import { prose } from "../core/prose";
import { t } from "../core/texts";
import { about, duration } from "../core/time";

type Wanted = Body<"POST", "/projects/{project}/forecast/places">;
type Compared = Schema<"ComparedPlacesView">;
type Place = Compared["places"][number];

/** The name of the choice in the form. Parameter names contain no blanks. */
const NAME = "run place";
/** The delay after the last key press, in milliseconds. */
const PAUSE = 500;
/** The minimum number of decimal places of an amount of money. */
const DIGITS = 2;

/** A form part that compares target clusters. `wanted` returns the subject of the comparison. */
export class Places {
  readonly element = h("fieldset", { class: "field plain places", "data-field": "place", "aria-live": "polite", "aria-busy": "true" },
    h("legend", {}, t("pipeline.places")), h("p", { class: "muted small" }, t("pipeline.places-asked")));
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | null = null;

  constructor(private readonly project: string, private readonly wanted: () => Wanted) {}

  /** The chosen target; null for the default. */
  chosen(): string | null {
    const found = this.element.querySelector<HTMLInputElement>("input:checked");
    return found && found.dataset["usual"] === undefined ? found.value : null;
  }

  /** Called when the subject may have changed. */
  later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.now(), PAUSE);
  }

  /** Requests and shows the comparison. */
  async now(): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    this.element.setAttribute("aria-busy", "true");
    try {
      const { data } = await request("POST", `/projects/${this.project}/forecast/places`, this.wanted(), { signal: running.signal });
      if (!running.signal.aborted) this.#show(shown(data, this.chosen()));
    } catch (error) {
      // The comparison is optional: the run can be started without it.
      if (!running.signal.aborted) this.#show([h("p", { class: "muted small" }, error instanceof Error ? error.message : String(error))]);
    }
  }

  #show(parts: HTMLElement[]): void {
    const focused = this.element.querySelector<HTMLInputElement>("input:focus")?.value;
    const [legend] = this.element.children;
    this.element.replaceChildren(...(legend ? [legend] : []), ...parts);
    this.element.removeAttribute("aria-busy");
    all<HTMLInputElement>("input", this.element).find((one) => one.value === focused)?.focus();
  }
}

function shown({ places, problems, left_out: more, currency }: Compared, chosen: string | null): HTMLElement[] {
  const wrong = problems.slice(0, 1).map(({ message }) => h("p", { class: "muted small sentence" }, t("pipeline.places-later"), " ", ...prose(message)));
  if (places.length === 0) return wrong;
  const picked = places.some((one) => one.place === chosen && can(one)) ? chosen : places.find((one) => one.is_usual)?.place;
  const [only, ...others] = places;
  // There is nothing to choose.
  if (only && others.length === 0 && more === 0) return [h("div", { class: "places-list" }, row(only, true, currency ?? "", true))];
  const rows = places.map((one) => row(one, one.place === picked, currency ?? "", false));
  const rest = more > 0 ? [h("p", { class: "muted small" }, t("pipeline.places-more", { n: more }))] : [];
  return [h("div", { class: "places-list" }, ...rows), ...rest, h("p", { class: "field-help" }, t("pipeline.places-help"))];
}

function can(place: Place): boolean {
  return place.problems.length === 0;
}

function row(place: Place, checked: boolean, currency: string, single: boolean): HTMLElement {
  const id = `place-${place.place.replace("/", "-")}`;
  const radio = h("input", { type: "radio", name: NAME, id, value: place.place, checked, disabled: !can(place), hidden: single, "aria-describedby": `${id}-why` });
  if (place.is_usual) radio.dataset["usual"] = "";
  const name = h("span", { class: "place-name" }, radio, h("span", { class: "mono" }, place.place), place.is_usual && !single ? h("span", { class: "tag accent" }, t("pipeline.places-usual")) : null);
  const facts = can(place) ? [fact(t("pipeline.places-waits"), waits(place)), fact(t("pipeline.places-takes"), takes(place)), fact(t("pipeline.places-costs"), costs(place, currency))]
    : [h("span", { class: "place-never" }, icon("error"), t("pipeline.places-never"))];
  return h("div", { class: "place", "data-place": place.place },
    h("label", { for: id }, name, ...facts), h("div", { class: "place-why small", id: `${id}-why` }, ...why(place)));
}

function fact(word: string, [text, note]: [string, string]): HTMLElement {
  return h("span", { class: "place-fact" }, h("span", { class: "place-word" }, word), h("span", { class: "number" }, text), note ? h("span", { class: "muted small" }, note) : null);
}

function waits({ outlook, start }: Place): [string, string] {
  if (outlook === "starts") return [t("pipeline.places-starts"), ""];
  if (outlook !== "waits" || !start) return [t(outlook === "waits" ? /* text */ "pipeline.places-some" : /* text */ "pipeline.places-unknown"), ""];
  return [about(secondsUntil(start.p50)), t("pipeline.places-up-to", { most: about(secondsUntil(start.p90)) })];
}

function takes({ takes: time, elsewhere }: Place): [string, string] {
  if (!time) return [t("pipeline.places-unknown"), ""];
  const most = t("pipeline.places-up-to", { most: duration(time.p90_seconds) });
  return [duration(time.p50_seconds), elsewhere.length > 0 ? t("pipeline.places-elsewhere", { most }) : most];
}

function costs({ cost, unknown_tasks: unknown }: Place, currency: string): [string, string] {
  if (typeof cost !== "string") return [t("pipeline.places-unknown"), ""];
  const amount = `${Number(cost).toFixed(DIGITS)} ${currency}`.trim();
  return [amount, unknown.length > 0 ? t("pipeline.places-without", { n: unknown.length }) : ""];
}

/** Why it is pending or cannot run there, each problem with its field. */
function why({ message, problems }: Place): HTMLElement[] {
  const waits = typeof message === "string" ? [h("p", { class: "muted sentence" }, ...prose(message))] : [];
  return [...waits, ...problems.map((one) => h("div", {}, one.path ? h("code", {}, one.path) : null, h("p", { class: "sentence" }, ...prose(one.message))))];
}

function secondsUntil(moment: string): number {
  return Math.max(0, (Date.parse(moment) - Date.now()) / 1000);
}
