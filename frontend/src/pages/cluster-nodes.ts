//! Every GPU of a cluster, coloured by its state; and a list of those that need attention.

import { request } from "../api/client";
import { h, need } from "../core/dom";
import { field, select } from "../core/fields";
import { t } from "../core/texts";
import { allNodes, keepTrue, missing } from "../monitoring/data";
import type { Card, Node } from "../monitoring/data";
import { fragmented, type Fragmented } from "../monitoring/fragments";
import { Grid } from "../monitoring/grid";
import type { Measure } from "../monitoring/paint";
import { called, cardPage, facts, link, STAND_OUT, stateOf, STATES, stateSign } from "../monitoring/show";

/** The maximum number of GPUs listed individually. */
const TOLD = 100;

export async function start(): Promise<void> {
  const place = need("#monitoring");
  const cluster = place.dataset["cluster"] ?? "";
  const chosen = h("section", { class: "card padded card-chosen", "aria-live": "polite", "aria-label": t("monitoring.chosen") }, h("p", { class: "muted" }, t("monitoring.choose")));
  const grid = new Grid({
    chosen: (node, card) => { chosen.replaceChildren(...told(cluster, node, card)); },
    opened: (card) => { location.assign(cardPage(cluster, card)); },
  });
  const outstanding = h("section", { class: "section", "aria-labelledby": "stand-out" });
  const said = h("div", {});
  const overall = h("div", { class: "card-overall" }, tools(grid), legend(), h("div", { class: "card-columns" }, grid.element, chosen));
  const show = (nodes: Node[]) => {
    if (!overall.isConnected) place.replaceChildren(said, overall, outstanding);
    overall.hidden = nodes.length === 0;
    grid.show(nodes);
  };
  // Problems are shown for the cluster as a whole.
  const load = () => Promise.all([allNodes(cluster, show), request("GET", `/clusters/${cluster}/monitoring`)]);
  await keepTrue(load, ([nodes, { data }]) => {
    show(nodes);
    const sentences = missing(data.problems);
    said.replaceChildren(...(sentences ? [sentences] : []));
    outstanding.replaceChildren(...standOut(cluster, nodes));
  });
}

function tools(grid: Grid): HTMLElement {
  const measure = select([["usage", t("monitoring.usage")], ["memory", t("monitoring.memory")], ["temperature", t("monitoring.temperature")], ["power", t("monitoring.power")]]);
  const asked = location.hash.slice(1);
  const only = select([["", t("monitoring.all")], ...STATES.map((state): [string, string] => [state, stateOf(state)])], asked);
  const look = () => { grid.look(measure.value as Measure, only.value); };
  for (const control of [measure, only]) control.addEventListener("change", look);
  look();
  return h("div", { class: "form-row card-tools" }, field("measure", t("monitoring.colour-by"), measure), field("only", t("monitoring.show-only"), only));
}

function legend(): HTMLElement {
  return h("ul", { class: "card-legend small" }, ...STATES.map((state) => h("li", {}, stateSign(state))));
}

function told(cluster: string, node: Node, card: Card): HTMLElement[] {
  const title = h("h2", {}, `${node.name} · ${called(card)}`);
  const model = h("p", { class: "muted small" }, card.model);
  const open = h("a", { class: "button", href: cardPage(cluster, card) }, t("monitoring.open"));
  return [title, model, facts(card), h("div", { class: "actions" }, open), ...links(node)];
}

/** The number of NVLinks between each two GPUs of a node. */
function links(node: Node): HTMLElement[] {
  const known = node.links ?? [];
  if (known.length === 0) return [];
  const count = (a: Card, b: Card) => known.find(({ from, to }) => (from === a.uuid && to === b.uuid) || (from === b.uuid && to === a.uuid))?.count ?? 0;
  const name = (card: Card) => String(card.index ?? "?");
  const rows = node.cards.map((a) => h("tr", {}, h("th", { scope: "row" }, name(a)), ...node.cards.map((b) => h("td", { class: "end" }, a === b ? "" : String(count(a, b))))));
  const head = h("tr", {}, h("td", {}), ...node.cards.map((card) => h("th", { scope: "col", class: "end" }, name(card))));
  return [h("h3", {}, t("monitoring.links")), h("table", { class: "card-links small number" }, h("thead", {}, head), h("tbody", {}, ...rows))];
}

function standOut(cluster: string, nodes: Node[]): HTMLElement[] {
  const found = nodes.flatMap((node) => node.cards.filter((card) => STAND_OUT.includes(card.state)).map((card) => ({ node, card })));
  const head = h("div", { class: "section-head" }, h("h2", { id: "stand-out" }, t("monitoring.stand-out")));
  const parts = fragmented(nodes);
  if (found.length + parts.length === 0) return [head, h("p", { class: "muted" }, nothing(nodes))];
  const names = [t("monitoring.state"), t("monitoring.node"), t("monitoring.held-by")];
  const row = ({ node, card }: { node: Node; card: Card }) => h("tr", {},
    h("th", { scope: "row" }, h("a", { href: cardPage(cluster, card) }, called(card))),
    h("td", { "data-label": names[0] }, h("span", {}, stateSign(card.state), card.xid == null ? null : ` · ${t("monitoring.xid")} ${card.xid}`)),
    h("td", { "data-label": names[1] }, node.name),
    h("td", { "data-label": names[2] }, ...holders(card)));
  const partly = (part: Fragmented) => h("tr", {},
    h("th", { scope: "row" }, t("monitoring.some-free", { free: part.free, all: part.all })),
    h("td", { "data-label": names[0] }, stateSign("fragment")),
    h("td", { "data-label": names[1] }, part.node),
    h("td", { "data-label": names[2] }, ...holders(part)));
  const rows = [...found.slice(0, TOLD).map(row), ...parts.slice(0, TOLD).map(partly)];
  const top = h("tr", {}, h("th", {}, t("monitoring.card")), ...names.map((name) => h("th", {}, name)));
  const untold = found.length + parts.length - rows.length;
  const more = untold > 0 ? [h("p", { class: "muted" }, t("monitoring.more", { n: untold }))] : [];
  return [head, h("div", { class: "table-box" }, h("table", { class: "table cards" }, h("thead", {}, top), h("tbody", {}, ...rows))), ...more];
}

function nothing(nodes: Node[]): string {
  if (nodes.length === 0) return t("monitoring.no-nodes");
  return nodes.some((node) => node.cards.length > 0) ? t("monitoring.nothing-stands-out") : t("monitoring.no-cards");
}

function holders(card: Pick<Card, "holders" | "others">): (HTMLElement | string)[] {
  const shown = (card.holders ?? []).flatMap((holder, at) => [at > 0 ? ", " : "", link(holder)]);
  if (shown.length > 0) return shown;
  return [card.others > 0 ? t("monitoring.held-by-others", { n: card.others }) : t("monitoring.held-by-nobody")];
}
