//! GPUs of a cluster over time, with a range that all plots share and that the address has.

import { request } from "../api/client";
import { h, icon, need } from "../core/dom";
import { field, select } from "../core/fields";
import { language, t } from "../core/texts";
import { exact } from "../core/time";
import { keepTrue } from "../monitoring/data";
import { heatOf, known, times } from "../monitoring/gpu-data";
import type { History } from "../monitoring/gpu-data";
import { GpuPlots } from "../monitoring/gpu-plots";
import { Heat } from "../monitoring/heat";
import type { HeatSpot } from "../monitoring/heat-layout";
import { idleTable } from "../monitoring/idle-gpus";
import type { Idle } from "../monitoring/idle-gpus";
import { cores, percent } from "../monitoring/show";
import { fixed, latest, moment, RANGES, spanOf, widened, written, zoomed } from "../monitoring/span";
import type { Span } from "../monitoring/span";

/** Samples come once a minute. */
const EVERY_MS = 60_000;

const RANGE_WORDS: Record<string, string> = {
  "1h": /* text */ "monitoring.range-1h",
  "6h": /* text */ "monitoring.range-6h",
  "24h": /* text */ "monitoring.range-24h",
  "7d": /* text */ "monitoring.range-7d",
  "30d": /* text */ "monitoring.range-30d",
  "90d": /* text */ "monitoring.range-90d",
};

/** What the address has besides the range, each with its possible values, the usual one first. */
const CHOICES = { by: ["project", "user", "task", "model", "node_group"], idle: ["project", "user", "task"], heat: ["used", "allocated"] } as const;
type Choice = keyof typeof CHOICES;

const WORDS: Record<string, string> = {
  project: /* text */ "monitoring.project",
  user: /* text */ "monitoring.person",
  task: /* text */ "monitoring.task",
  model: /* text */ "monitoring.gpu-model",
  node_group: /* text */ "monitoring.node-group",
  used: /* text */ "monitoring.usage",
  allocated: /* text */ "monitoring.allocated",
};

const now = (): number => Date.now() / 1000;

interface Found {
  totals: History;
  grouped: History;
  nodes: History;
  idle: Idle;
}

class GpuHistory {
  readonly #place = need("#monitoring");
  readonly #cluster = this.#place.dataset["cluster"] ?? "";
  #span: Span = latest("", now());
  readonly #chosen: Record<Choice, string> = { by: "", idle: "", heat: "" };
  #nodes: History | undefined;
  #refresh: () => Promise<void> = () => Promise.resolve();

  readonly #ranges = h("div", { class: "segments", role: "group", "aria-label": t("monitoring.range") });
  readonly #shown = h("p", { class: "small number", "aria-live": "polite" });
  readonly #link = h("a", { class: "button small quiet" }, t("monitoring.permalink"));
  readonly #selects: Record<Choice, HTMLSelectElement> = { by: this.#select("by"), idle: this.#select("idle"), heat: this.#select("heat") };
  readonly #summary = h("div", {});
  readonly #plots = new GpuPlots((from, until) => { this.#go(zoomed(this.#span, from, until)); });
  readonly #heat = new Heat((spot) => this.#described(spot));
  readonly #table = h("div", {});
  readonly #charts = h("div", { class: "card-overall" }, tools(field("by", t("monitoring.group-by"), this.#selects.by)), this.#plots.element);
  readonly #heatPart = section("heat", t("monitoring.heat"), tools(field("heat", t("monitoring.colour-by"), this.#selects.heat)), this.#heat.element);
  readonly #idlePart = section("idle", t("monitoring.idle"), tools(field("idle", t("monitoring.group-by"), this.#selects.idle)), this.#table, h("p", { class: "field-help usage-help" }, t("monitoring.idle-help")));

  async start(): Promise<void> {
    this.#read();
    window.addEventListener("popstate", () => {
      this.#read();
      void this.#refresh();
    });
    this.#refresh = await keepTrue(() => this.#load(), (found) => { this.#show(found); }, EVERY_MS);
  }

  /** Reads the range and the choices from the address. */
  #read(): void {
    const query = new URLSearchParams(location.search);
    this.#span = spanOf(query, now());
    for (const [choice, values] of Object.entries(CHOICES) as [Choice, readonly string[]][]) {
      const value = query.get(choice) ?? "";
      this.#chosen[choice] = values.includes(value) ? value : (values[0] ?? "");
      this.#selects[choice].value = this.#chosen[choice];
    }
  }

  /** The choices that differ from the usual ones. */
  #rest(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.#chosen).filter(([choice, value]) => value !== CHOICES[choice as Choice][0]));
  }

  #go(span: Span): void {
    this.#span = span;
    history.pushState(null, "", written(span, this.#rest()));
    this.#paintRange();
    void this.#refresh();
  }

  #select(choice: Choice): HTMLSelectElement {
    const control = select(CHOICES[choice].map((value): [string, string] => [value, t(/* text */ WORDS[value] ?? value)]));
    control.addEventListener("change", () => {
      this.#chosen[choice] = control.value;
      this.#go(this.#span);
    });
    return control;
  }

  async #load(): Promise<Found> {
    const { range } = this.#span;
    if (range !== null) this.#span = latest(range, now());
    const { by, idle } = this.#chosen;
    const within = `from=${moment(this.#span.from)}&until=${moment(this.#span.until)}`;
    const [totals, grouped, nodes, idleGpus] = await Promise.all([
      request("GET", `/clusters/${this.#cluster}/gpu-history?${within}`),
      request("GET", `/clusters/${this.#cluster}/gpu-history?by=${by}&${within}`),
      request("GET", `/clusters/${this.#cluster}/gpu-history?by=node&${within}`),
      request("GET", `/idle-gpus?cluster=${encodeURIComponent(this.#cluster)}&by=${idle}&${within}`),
    ]);
    return { totals: totals.data, grouped: grouped.data, nodes: nodes.data, idle: idleGpus.data };
  }

  #show({ totals, grouped, nodes, idle }: Found): void {
    this.#paintRange();
    this.#nodes = nodes;
    const sampled = known(totals.total);
    this.#summary.replaceChildren(...summary(totals, sampled));
    this.#charts.hidden = !sampled;
    this.#heatPart.hidden = nodes.groups.length === 0;
    this.#idlePart.hidden = !sampled;
    // Before the plots, which take the size of their boxes.
    if (!this.#charts.isConnected) {
      const out = h("button", { class: "button small quiet", type: "button", onclick: () => { this.#go(widened(this.#span, now())); } }, t("monitoring.zoom-out"));
      const range = h("div", { class: "gpu-tools" }, this.#ranges, out, this.#link);
      this.#place.replaceChildren(range, this.#shown, this.#summary, this.#charts, this.#heatPart, this.#idlePart);
    }
    if (sampled) this.#plots.show(totals, grouped, this.#chosen.by);
    this.#heat.show(heatOf(nodes, this.#chosen.heat));
    this.#table.replaceChildren(idleTable(idle, this.#chosen.idle));
  }

  #paintRange(): void {
    const { range, from, until } = this.#span;
    if (this.#ranges.childElementCount === 0) {
      this.#ranges.append(...Object.keys(RANGES).map((name) => h("button", { type: "button", "data-range": name, onclick: () => { this.#go(latest(name, now())); } }, t(/* text */ RANGE_WORDS[name] ?? name))));
    }
    for (const button of this.#ranges.children) button.setAttribute("aria-pressed", String(button.getAttribute("data-range") === range));
    const [begin, end] = [from, until].map((seconds) => exact(new Date(seconds * 1000), language()));
    this.#shown.textContent = t("monitoring.range-shown", { from: begin ?? "", until: end ?? "" });
    this.#link.href = written(fixed(this.#span), this.#rest());
  }

  /** A cell of the heat map in words. */
  #described({ row, column }: HeatSpot): string {
    const nodes = this.#nodes;
    const node = nodes?.groups[row];
    if (!nodes || !node) return "";
    const at = exact(new Date((times(nodes)[column] ?? 0) * 1000), language());
    const total = node.total?.[column] ?? null;
    const [held, used] = [node.allocated[column] ?? null, node.used[column] ?? null];
    if (total === null) return t("monitoring.heat-none", { node: node.node ?? "", at });
    return t("monitoring.heat-cell", { node: node.node ?? "", at, allocated: cores(held), total: cores(total), used: used === null || total === 0 ? t("monitoring.unknown") : percent(used / total) });
  }
}

function tools(control: HTMLElement): HTMLElement {
  return h("div", { class: "form-row card-tools" }, control);
}

function section(id: string, title: string, ...inside: HTMLElement[]): HTMLElement {
  return h("section", { class: "section", "aria-labelledby": `part-${id}` }, h("div", { class: "section-head" }, h("h2", { id: `part-${id}` }, title)), ...inside);
}

/** What is free now, the energy, and what is missing. */
function summary({ now: present, energy_kwh: energy, measured }: History, sampled: boolean): HTMLElement[] {
  const lines: string[] = [];
  if (present && present.total > 0) {
    const { allocated, total, free, largest_gang: gang } = present;
    lines.push(t("monitoring.gpus-now", { allocated: cores(allocated), total: cores(total), free }));
    lines.push(gang ? t("monitoring.gang", { nodes: gang.nodes, gpus: gang.gpus }) : t("monitoring.gang-none"));
  }
  if (energy != null) lines.push(t("monitoring.energy", { kwh: new Intl.NumberFormat(language(), { maximumSignificantDigits: 4 }).format(energy) }));
  const told = lines.length > 0 ? [h("p", {}, lines.join(language() === "zh" ? "" : " "))] : [];
  const missing = (text: string) => h("p", { class: "empty slim" }, text);
  if (!sampled) return [...told, missing(present?.total === 0 ? t("monitoring.gpus-none") : t("monitoring.gpus-no-samples"))];
  return measured.some((value) => value !== null && value > 0) ? told : [...told, h("div", { class: "callout info", role: "note" }, icon("info"), h("p", {}, t("monitoring.use-unknown")))];
}

export function start(): Promise<void> {
  return new GpuHistory().start();
}
