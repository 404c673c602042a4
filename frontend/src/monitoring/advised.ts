//! Advice about a GPU or a task: the observation, and what to change.

import type { components } from "../api/schema";
import { h } from "../core/dom";
import { prose } from "../core/prose";
import { language, t } from "../core/texts";

export type Advice = components["schemas"]["AdviceView"];
type Remedy = Advice["remedies"][number];

const RULES: Record<string, string> = {
  held_idle: /* text */ "monitoring.advice-held_idle",
  cpu_saturated: /* text */ "monitoring.advice-cpu_saturated",
  io_wait: /* text */ "monitoring.advice-io_wait",
  regular_dips: /* text */ "monitoring.advice-regular_dips",
  memory_empty: /* text */ "monitoring.advice-memory_empty",
  straggler: /* text */ "monitoring.advice-straggler",
  far_from_peers: /* text */ "monitoring.advice-far_from_peers",
};
/** The maximum number of named workers. */
const NAMED = 8;

/**
 * The whole advice, with a heading; null if there is none. `links` are the follow-up links of each item; the
 * workers are named if the task has `several`.
 */
export function advised(advice: readonly Advice[], links: (one: Advice) => HTMLElement[], several = false): HTMLElement | null {
  if (advice.length === 0) return null;
  const head = h("div", { class: "section-head" }, h("h2", { id: "advice" }, t("monitoring.advice")));
  return h("section", { class: "section", "aria-labelledby": "advice" }, head, ...advice.map((one) => card(one, links(one), several)));
}

function card({ rule, evidence, remedies, workers }: Advice, links: HTMLElement[], several: boolean): HTMLElement {
  const inside = [
    h("h3", {}, t(/* text */ RULES[rule] ?? rule)),
    h("p", { class: "sentence" }, ...prose(evidence)),
    ...(several && workers && workers.length > 0 ? [h("p", { class: "muted small" }, t("monitoring.advice-at", { workers: named(workers) }))] : []),
    h("ol", {}, ...remedies.map(remedy)),
    ...(links.length > 0 ? [h("div", { class: "actions" }, ...links)] : []),
  ];
  return h("div", { class: "card padded card-advice", "data-rule": rule }, ...inside);
}

function remedy({ what, pytorch, tensorflow, setting }: Remedy): HTMLElement {
  const line = (name: string, text: string | null | undefined) => (text ? [h("p", { class: "small" }, `${name}: `, h("code", {}, text))] : []);
  return h("li", {}, h("p", { class: "sentence" }, ...prose(what)), ...line("PyTorch", pytorch), ...line("TensorFlow", tensorflow), ...line(t("monitoring.advice-setting"), setting));
}

function named(workers: readonly string[]): string {
  const some = workers.length > NAMED ? [...workers.slice(0, NAMED), "…"] : workers;
  return new Intl.ListFormat(language(), { type: "conjunction", style: "narrow" }).format(some);
}
