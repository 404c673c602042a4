//! What the API tells of a cluster's nodes and cards, read again and again while somebody looks.

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

/** Exporters are asked about as often: looking more often shows nothing new. */
const EVERY_MS = 15_000;
/** Nodes of one answer. */
const PAGE = 1000;

/** Every node of a cluster; `some` is called with those that are there so far. */
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
 * Shows what `load` finds, now and every 15 seconds while the page is seen. What was shown stays when it cannot be read
 * again, and the page says so.
 */
export async function keepTrue<T>(load: () => Promise<T>, show: (found: T) => void): Promise<void> {
  const place = need("#monitoring");
  const note = h("div", { class: "callout warning", role: "status" });
  let shown = false;
  const look = async () => {
    try {
      const found = await load();
      note.remove();
      shown = true;
      show(found);
    } catch (error) {
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
  setInterval(() => void again(), EVERY_MS);
  document.addEventListener("visibilitychange", () => void again());
}

/** The sentences about what is missing; null where nothing is. */
export function missing(problems: readonly string[]): HTMLElement | null {
  if (problems.length === 0) return null;
  const sentences = problems.map((problem) => h("p", { class: "sentence" }, ...prose(problem)));
  const title = h("p", { class: "callout-title" }, t("monitoring.missing"));
  return h("div", { class: "callout warning", role: "note" }, icon("warning"), h("div", {}, title, ...sentences));
}
