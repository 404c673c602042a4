//! Formats nodes and GPUs.

import { h } from "../core/dom";
import { t } from "../core/texts";
import { bytes } from "../core/time";
import type { Card, Holder } from "./data";

type Known = number | null | undefined;

const NONE = "–";

/** States, in display order. */
export const STATES = ["busy", "idle", "free", "fragment", "faulty", "away"] as const;
/** States that need attention. */
export const STAND_OUT: readonly string[] = ["idle", "faulty", "away"];

const WORDS: Record<string, string> = {
  busy: /* text */ "monitoring.state-busy",
  idle: /* text */ "monitoring.state-idle",
  free: /* text */ "monitoring.state-free",
  fragment: /* text */ "monitoring.state-fragment",
  faulty: /* text */ "monitoring.state-faulty",
  away: /* text */ "monitoring.state-away",
};

/** The label of a GPU's state. */
export function stateOf(state: string): string {
  return t(/* text */ WORDS[state] ?? state);
}

/** A state with its icon. */
export function stateSign(state: string): HTMLElement {
  return h("span", { class: "card-state", "data-card": state }, stateOf(state));
}

export const percent = (share: Known): string => (share == null ? NONE : `${Math.round(share * 100)} %`);
export const amount = (value: Known): string => (value == null ? NONE : bytes(value));
export const cores = (value: Known): string => (value == null ? NONE : String(Math.round(value * 10) / 10));
export const degrees = (value: Known): string => (value == null ? NONE : `${Math.round(value)} °C`);
export const watts = (value: Known): string => (value == null ? NONE : `${Math.round(value)} W`);

/** A value out of its total; the value alone if the total is unknown. */
export function part(one: string, all: Known, form: (value: Known) => string): string {
  return all == null ? one : t("monitoring.of", { part: one, all: form(all) });
}

/** A GPU's details, as terms and values. */
export function facts(card: Card): HTMLElement {
  const rows: [string, Node | string | null][] = [
    [t("monitoring.state"), stateSign(card.state)],
    [t("monitoring.usage"), percent(card.usage)],
    [t("monitoring.recent"), percent(card.recent_usage)],
    [t("monitoring.tensor"), card.tensor == null ? null : percent(card.tensor)],
    [t("monitoring.memory"), part(amount(card.memory_used), card.memory_total, amount)],
    [t("monitoring.temperature"), degrees(card.temperature)],
    [t("monitoring.power"), part(watts(card.power), card.power_limit, watts)],
    [t("monitoring.nvlink"), card.nvlink == null ? null : `${bytes(card.nvlink)}/s`],
    [t("monitoring.xid"), card.xid == null ? null : String(card.xid)],
    [t("monitoring.held-by"), held(card)],
  ];
  const shown = rows.filter(([, value]) => value !== null);
  return h("dl", { class: "card-facts" }, ...shown.flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]));
}

/** The user of a GPU, as far as visible. */
function held(card: Card): HTMLElement {
  const names = (card.holders ?? []).map((holder) => h("li", {}, link(holder), " ", h("span", { class: "muted" }, `${holder.pipeline} · ${holder.user}`)));
  const others = card.others > 0 ? [h("li", { class: "muted" }, t("monitoring.held-by-others", { n: card.others }))] : [];
  if (names.length + others.length === 0) return h("span", { class: "muted" }, t("monitoring.held-by-nobody"));
  return h("ul", { class: "card-holders" }, ...names, ...others);
}

/** A link to the task that uses a resource. */
export function link({ run, task }: Holder): HTMLElement {
  return h("a", { href: `/runs/${run}/tasks/${task}` }, task);
}

/** A GPU's display name: its index on its node. */
export function called(card: Card): string {
  return card.index == null ? card.uuid : t("monitoring.number", { n: card.index });
}

export function cardPage(cluster: string, card: Card): string {
  return `/clusters/${cluster}/gpus/${encodeURIComponent(card.uuid)}`;
}
