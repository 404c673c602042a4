//! Current allocations on all clusters, most GPUs first.

import { request } from "../api/client";
import type { components } from "../api/schema";
import { h, need } from "../core/dom";
import { t } from "../core/texts";
import { paintTimes } from "../core/time";
import { keepTrue } from "../monitoring/data";
import { amount, cores, link } from "../monitoring/show";

type Holds = components["schemas"]["HoldsView"];

/** Entries per response. */
const PAGE = 200;
/** The maximum number of named tasks per row. */
const NAMED = 5;

export async function start(): Promise<void> {
  const place = need("#monitoring");
  await keepTrue(all, (found) => {
    place.replaceChildren(found.length === 0 ? h("p", { class: "muted" }, t("monitoring.nobody")) : table(found));
    paintTimes();
  });
}

async function all(): Promise<Holds[]> {
  const found: Holds[] = [];
  let cursor: string | undefined;
  do {
    const from: string = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { data } = await request("GET", `/holders?limit=${PAGE}${from}`);
    found.push(...data.items);
    cursor = data.next_cursor ?? undefined;
  } while (cursor !== undefined);
  const order = (one: Holds, other: Holds) => other.requested.gpus - one.requested.gpus || other.requested.cpu - one.requested.cpu;
  return found.sort(order);
}

function table(found: readonly Holds[]): HTMLElement {
  const numbers = [t("monitoring.gpus"), t("monitoring.cpu"), t("monitoring.memory")];
  const row = (holds: Holds) => {
    const { cluster, project, user, requested, since } = holds;
    const values = [String(requested.gpus), cores(requested.cpu), amount(requested.memory)];
    return h("tr", {},
      h("th", { scope: "row" }, user ?? h("span", { class: "muted" }, t("monitoring.others"))),
      h("td", { "data-label": t("monitoring.project") }, project == null ? "" : h("a", { href: `/projects/${project}` }, project)),
      h("td", { "data-label": t("monitoring.cluster") }, h("a", { href: `/clusters/${cluster}` }, cluster)),
      ...values.map((value, at) => h("td", { class: "end number", "data-label": numbers[at] }, value)),
      h("td", { "data-label": t("monitoring.tasks") }, ...tasks(holds)),
      h("td", { "data-label": t("monitoring.since") }, since == null ? "" : h("time", { datetime: since, "data-moment": "" })));
  };
  const names = [t("monitoring.person"), t("monitoring.project"), t("monitoring.cluster")];
  const head = h("tr", {},
    ...names.map((name) => h("th", {}, name)),
    ...numbers.map((name) => h("th", { class: "end" }, name)),
    h("th", {}, t("monitoring.tasks")), h("th", {}, t("monitoring.since")));
  return h("div", { class: "table-box" }, h("table", { class: "table cards" }, h("thead", {}, head), h("tbody", {}, ...found.map(row))));
}

/** The newest tasks, and the number of others; only the number of hidden tasks. */
function tasks({ tasks: named = [], attempts }: Holds): (Node | string)[] {
  const shown = named.slice(0, NAMED);
  if (shown.length === 0) return [String(attempts)];
  const more = attempts - shown.length;
  const links = shown.flatMap((holder, at) => (at === 0 ? [link(holder)] : [", ", link(holder)]));
  return more > 0 ? [...links, " ", h("span", { class: "muted" }, t("monitoring.more-tasks", { n: more }))] : links;
}
