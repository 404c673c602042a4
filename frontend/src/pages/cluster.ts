//! A cluster: its capacity, requests and usage, in total and by project.

import { request } from "../api/client";
import type { components } from "../api/schema";
import { h, icon, need, s } from "../core/dom";
import { t } from "../core/texts";
import { keepTrue, missing } from "../monitoring/data";
import type { Levels, Overview } from "../monitoring/data";
import { amount, cores, STATES, stateSign } from "../monitoring/show";

type Use = components["schemas"]["ProjectUseView"];

const SOURCES: Record<string, string> = {
  machine: /* text */ "monitoring.source-machine",
  prometheus: /* text */ "monitoring.source-prometheus",
  cluster: /* text */ "monitoring.source-cluster",
  none: /* text */ "monitoring.source-none",
};

export async function start(): Promise<void> {
  const place = need("#monitoring");
  const cluster = place.dataset["cluster"] ?? "";
  const load = async () => (await request("GET", `/clusters/${cluster}/monitoring`)).data;
  await keepTrue(load, (found) => {
    need("#looked").textContent = measuredBy(found);
    grafana(found);
    place.replaceChildren(...shown(cluster, found));
  });
}

/** A cluster with an unreachable Prometheus has no metrics either: the problems say why. */
function measuredBy({ source, problems }: Overview): string {
  if (source === "none" && problems.length > 0) return t("monitoring.not-now");
  return t("monitoring.looked", { source: t(/* text */ SOURCES[source] ?? source) });
}

function grafana(found: Overview): void {
  if (!found.grafana || document.querySelector("#grafana")) return;
  need("#links").append(h("a", { class: "button", id: "grafana", href: found.grafana, rel: "noreferrer" }, icon("external"), t("monitoring.grafana")));
}

function shown(cluster: string, found: Overview): HTMLElement[] {
  const levels = h("div", { class: "grid" },
    level(t("monitoring.cpu"), found.cpu, cores),
    level(t("monitoring.memory"), found.memory, amount),
    level(t("monitoring.gpus"), found.gpus, cores));
  return [missing(found.problems), levels, cards(cluster, found), projects(found)].filter((one) => one !== null);
}

/** One resource: a bar of the usage, in a frame of the requests. */
function level(name: string, { capacity, requested, used: measuredUse }: Levels, form: (value: number | null | undefined) => string): HTMLElement {
  // Without capacity the usage is zero, even without metrics.
  const used = capacity === 0 ? (measuredUse ?? 0) : measuredUse;
  const word = (value: number | null | undefined) => (value == null ? t("monitoring.unknown") : form(value));
  const width = (value: number | null | undefined) => (value == null || !capacity ? 0 : Math.min(100, (value / capacity) * 100));
  const label = t("monitoring.levels", { name, used: word(used), requested: word(requested), capacity: word(capacity) });
  const bar = s("svg", { class: "level-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label },
    s("rect", { class: "level-requested", width: width(requested), height: 10 }),
    s("rect", { class: "level-used", width: width(used), y: 3, height: 4 }));
  const isUnknown = used == null && capacity == null;
  const measured = isUnknown ? [h("span", { class: "muted" }, t("monitoring.unknown"))] : [word(used), " ", h("span", { class: "muted" }, `/ ${word(capacity)}`)];
  const line = (word_: string, value: string, sign: string) => h("li", { "data-level": sign }, `${word_} `, h("span", { class: "number" }, value));
  return h("div", { class: "card padded" },
    h("p", { class: "field-label" }, name),
    h("p", { class: "cluster-amount number" }, ...measured),
    bar,
    h("ul", { class: "level-words small muted" }, used == null ? null : line(t("monitoring.used"), word(used), "used"), line(t("monitoring.requested"), word(requested), "requested")));
}

function cards(cluster: string, found: Overview): HTMLElement {
  const total = Object.values(found.cards).reduce((sum, count) => sum + count, 0);
  const one = (state: string) => h("li", {},
    h("a", { href: `/clusters/${cluster}/nodes#${state}` }, h("span", { class: "number card-count" }, found.cards[state] ?? 0), " ", stateSign(state)));
  const list = total === 0
    ? h("p", { class: "muted" }, t("monitoring.no-cards"))
    : h("ul", { class: "card-counts" }, ...STATES.map(one));
  return h("section", { class: "section", "aria-labelledby": "cards" }, h("div", { class: "section-head" }, h("h2", { id: "cards" }, t("monitoring.cards"))), list);
}

function projects(found: Overview): HTMLElement {
  const head = h("div", { class: "section-head" }, h("h2", { id: "by-project" }, t("monitoring.by-project")));
  const rows = [...found.projects, ...(found.others ? [found.others] : [])];
  const inside = rows.length === 0 ? h("p", { class: "muted" }, t("monitoring.nobody")) : table(rows);
  return h("section", { class: "section", "aria-labelledby": "by-project" }, head, inside);
}

function table(rows: Use[]): HTMLElement {
  const names = [t("monitoring.attempts"), t("monitoring.cpu"), t("monitoring.memory"), t("monitoring.gpus")];
  const both = (used: string, requested: string) => t("monitoring.asked-and-used", { used, requested });
  const row = (use: Use) => {
    const { requested } = use;
    const values = [String(use.attempts), both(cores(use.cpu_used), cores(requested.cpu)), both(amount(use.memory_used), amount(requested.memory)), both(cores(use.gpus_used), cores(requested.gpus))];
    const name = use.project ? h("a", { href: `/projects/${use.project}` }, use.project) : h("span", { class: "muted" }, t("monitoring.others"));
    return h("tr", {}, h("th", { scope: "row" }, name), ...values.map((value, at) => h("td", { class: "end", "data-label": names[at] }, value)));
  };
  const head = h("tr", {}, h("th", {}, t("monitoring.project")), ...names.map((name) => h("th", { class: "end" }, name)));
  return h("div", { class: "table-box" }, h("table", { class: "table cards" }, h("thead", {}, head), h("tbody", {}, ...rows.map(row))));
}
