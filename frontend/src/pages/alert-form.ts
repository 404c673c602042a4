//! The form of an alert channel.

import type { components } from "../api/schema";
import { h } from "../core/dom";
import { check, exact, field, input, required, said, select } from "../core/fields";
import { t } from "../core/texts";

/** A channel, as in the API. */
export type Channel = components["schemas"]["ChannelView"];
type Rules = components["schemas"]["RulesView"];

/** The kinds of channels available here. */
export interface Offered {
  kinds: string[];
  events: string[];
}

const KINDS = (): Record<string, string> => ({
  webhook: t("alerts.webhook"), slack: t("alerts.slack"), feishu: t("alerts.feishu"),
  dingtalk: t("alerts.dingtalk"), wecom: t("alerts.wecom"), email: t("alerts.email"),
});

const EVENTS = (): Record<string, string> => ({
  run_failed: t("alerts.run_failed"), run_recovered: t("alerts.run_recovered"), run_late: t("alerts.run_late"),
  task_waiting: t("alerts.task_waiting"), quota_nearly_used: t("alerts.quota_nearly_used"), budget_nearly_used: t("alerts.budget_nearly_used"),
  node_set_aside: t("alerts.node_set_aside"), size_changed: t("alerts.size_changed"), gpu_idle: t("alerts.gpu_idle"),
  task_hangs: t("alerts.task_hangs"),
});

/** The fields; `present` is the current channel. */
export function fields(offered: Readonly<Offered>, present?: Readonly<Channel>): HTMLElement[] {
  const rules = present?.rules;
  const keep = present ? ` ${t("alerts.secret-keep")}` : "";
  const address = input("", "text");
  return [
    field("name", t("alerts.name"), required(input(present?.name ?? ""))),
    ...(present ? [] : [field("kind", t("alerts.kind"), select(offered.kinds.map((kind) => [kind, KINDS()[kind] ?? kind])))]),
    field("address", t("alerts.address"), present ? address : required(address), present ? t("alerts.address-keep", { address: present.address }) : t("alerts.address-help")),
    field("secret", t("alerts.secret"), input("", "text"), t("alerts.secret-help") + keep),
    events(offered.events, rules?.events ?? ["run_failed"]),
    field("pipelines", t("alerts.pipelines"), input((rules?.pipelines ?? []).join(", ")), t("alerts.pipelines-help")),
    row(
      field("waiting_seconds", t("alerts.waiting-minutes"), number((rules?.waiting_seconds ?? 1800) / 60, 1)),
      field("repeat_seconds", t("alerts.repeat-minutes"), number((rules?.repeat_seconds ?? 0) / 60, 0), t("alerts.repeat-help"))),
    field("language", t("alerts.language"), select([["en", "English"], ["zh", "中文"]], rules?.language ?? document.documentElement.lang.slice(0, 2))),
    quiet(rules?.quiet),
    ...(present ? [check("enabled", t("alerts.enabled"), present.enabled)] : []),
  ];
}

function events(offered: string[], chosen: string[]): HTMLElement {
  const boxes = offered.map((event) => check(event, EVENTS()[event] ?? event, chosen.includes(event)));
  return h("fieldset", { class: "field", "data-field": "events" }, h("legend", {}, t("alerts.events")), ...boxes);
}

function quiet(present: Rules["quiet"]): HTMLElement {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return h("fieldset", { class: "field" }, h("legend", {}, t("alerts.quiet")),
    row(
      field("from", t("alerts.from"), input(present?.from ?? "", "time")),
      field("until", t("alerts.until"), input(present?.until ?? "", "time")),
      field("zone", t("alerts.zone"), input(present?.zone ?? zone))),
    h("p", { class: "field-help" }, t("alerts.quiet-help")));
}

function row(...parts: HTMLElement[]): HTMLElement {
  return h("div", { class: "form-row" }, ...parts);
}

function number(value: number, min: number): HTMLInputElement {
  return h("input", { class: "input", type: "number", min: String(min), step: "any", inputmode: "decimal", value: String(value) });
}

/** The rules in a form. */
export function rules(data: FormData, offered: Readonly<Offered>): Rules {
  const seconds = (name: string) => Math.round(Number(said(data, name)) * 60);
  const [from, until] = [said(data, "from"), said(data, "until")];
  return {
    events: offered.events.filter((event) => data.get(event) !== null),
    pipelines: said(data, "pipelines").split(/[\s,]+/).filter(Boolean),
    waiting_seconds: seconds("waiting_seconds"),
    repeat_seconds: seconds("repeat_seconds"),
    language: said(data, "language"),
    ...(from || until ? { quiet: { from, until, zone: said(data, "zone") } } : {}),
  };
}

/** The typed address and secret; empty ones are unchanged. */
export function typed(data: FormData): { address?: string; secret?: string } {
  const [address, secret] = [said(data, "address"), exact(data, "secret")];
  return { ...(address ? { address } : {}), ...(secret ? { secret } : {}) };
}
