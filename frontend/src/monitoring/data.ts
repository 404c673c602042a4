//! Polls a cluster's nodes and GPUs from the API while the page is visible.

import { request } from "../api/client";
import type { components } from "../api/schema";
import { h, icon, need } from "../core/dom";
import { prose } from "../core/prose";
import { t } from "../core/texts";

export type Overview = components["schemas"]["MonitoringView"];
export type Levels = components["schemas"]["LevelsView"];
export type Node = components["schemas"]["MonitoredNodeView"];
export type Card = components["schemas"]["MonitoredCardView"];
export type Detail = components["schemas"]["CardDetail"];
export type Holder = components["schemas"]["CardHolderView"];

/** The scrape interval of exporters: polling more often shows nothing new. */
const EVERY_MS = 15_000;
/** Nodes per response. */
const PAGE = 1000;

/** Every node of a cluster; `some` is called with the nodes loaded so far. */
export async function allNodes(cluster: string, some: (nodes: Node[]) => void): Promise<Node[]> {
  const found: Node[] = [];
  let cursor: string | undefined;
  do {
    const from: string = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { data } = await request("GET", `/clusters/${cluster}/nodes?limit=${PAGE}${from}`);
    found.push(...data.items);
    cursor = data.next_cursor ?? undefined;
    if (cursor !== undefined) some(found);
  } while (cursor !== undefined);
  return found;
}

/**
 * Shows the result of `load`, now and every 15 seconds, or every `every` milliseconds, while the page is
 * visible. If a reload fails, the last result stays, and the page says so. Returns what shows another result
 * at once; a result that was requested before that is not shown.
 */
export async function keepTrue<T>(load: () => Promise<T>, show: (found: T) => void, every = EVERY_MS): Promise<() => Promise<void>> {
  const place = need("#monitoring");
  const note = h("div", { class: "callout warning", role: "status" });
  let shown = false;
  let last = 0;
  const look = async () => {
    const mine = ++last;
    try {
      const found = await load();
      if (mine !== last) return;
      note.remove();
      shown = true;
      show(found);
    } catch (error) {
      if (mine !== last) return;
      const why = t("monitoring.failed", { why: error instanceof Error ? error.message : String(error) });
      note.replaceChildren(icon("warning"), h("p", {}, why));
      if (!shown) place.replaceChildren();
      place.before(note);
    }
    place.setAttribute("aria-busy", "false");
  };
  let under = false;
  const again = async () => {
    if (under || document.visibilityState !== "visible") return;
    under = true;
    await look();
    under = false;
  };
  await look();
  setInterval(() => void again(), every);
  document.addEventListener("visibilitychange", () => void again());
  return look;
}

/** The messages about missing metrics; null if there are none. */
export function missing(problems: readonly string[]): HTMLElement | null {
  if (problems.length === 0) return null;
  const sentences = problems.map((problem) => h("p", { class: "sentence" }, ...prose(problem)));
  const title = h("p", { class: "callout-title" }, t("monitoring.missing"));
  return h("div", { class: "callout warning", role: "note" }, icon("warning"), h("div", {}, title, ...sentences));
}
