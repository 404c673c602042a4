//! Short summaries of collapsed sections. Pure, except for the language of the text.

import { t } from "../core/texts";
import type { Json } from "../graph/document";
import { shown } from "./draft";
import { isMapping } from "./path";

const join = (parts: readonly string[]) => parts.filter(Boolean).join(" · ");

/** `2 CPU · 4Gi · 1 GPU` */
export function amountsInWords(resources: Json | undefined): string {
  if (!isMapping(resources)) return "";
  const { cpu, memory, gpu } = resources;
  const cards = isMapping(gpu) ? `${shown(gpu["count"] ?? gpu["fraction"] ?? gpu["memory"])} GPU${gpu["type"] ? ` (${shown(gpu["type"])})` : ""}` : "";
  return join([cpu === undefined ? "" : `${shown(cpu)} CPU`, shown(memory), cards]);
}

/** `3 attempts · at most 1h` */
export function failureInWords(retry: Json | undefined, timeout: Json | undefined): string {
  const attempts = isMapping(retry) && retry["attempts"] !== undefined ? t("form.attempts-n", { n: shown(retry["attempts"]) }) : "";
  return join([attempts, timeout === undefined ? "" : t("form.at-most", { time: shown(timeout) })]);
}

/** The names of set values: `3 variables · token · datasets`. */
export function environmentInWords(env: Json | undefined, secrets: Json | undefined, volumes: Json | undefined, setup: Json | undefined): string {
  const variables = isMapping(env) ? Object.keys(env).length : 0;
  const names = (list: Json | undefined) => (Array.isArray(list) ? list.map((one: Json) => (isMapping(one) ? shown(one["name"]) : shown(one))).join(", ") : "");
  return join([variables > 0 ? t("form.variables-n", { n: variables }) : "", names(secrets), names(volumes), Array.isArray(setup) ? t("form.setup") : ""]);
}

/** Declared outputs, and whether results are reused. */
export function resultsInWords(outputs: Json | undefined, cache: Json | undefined): string {
  const on = cache === true || isMapping(cache);
  return join([Array.isArray(outputs) ? outputs.map((one: Json) => shown(one)).join(", ") : "", on ? t("form.cached") : ""]);
}

/** The set placement options. */
export function placementInWords(placement: Json | undefined, priority: Json | undefined, cluster?: Json, limits?: Json): string {
  const group = isMapping(placement) ? shown(placement["node_group"]) : "";
  const others = isMapping(placement) ? Object.keys(placement).filter((key) => key !== "node_group").length : 0;
  return join([shown(cluster), group, others > 0 ? t("form.settings-n", { n: others }) : "", priority === undefined ? "" : t("form.priority-n", { n: shown(priority) }), Array.isArray(limits) ? limits.map((name: Json) => shown(name)).join(", ") : ""]);
}
