//! The fields of a queue's quota in one pool, and their values.

import type { Answered } from "../api/typed";
import { all, h } from "../core/dom";
import { check, field, input, said, select } from "../core/fields";
import { t } from "../core/texts";

export type Quotas = Answered<"GET", "/quotas">;
export type Queue = Quotas["queues"][number];
export type Quota = Queue["quotas"][string];
type Amounts = Record<string, unknown>;

const PLAIN = ["cpu", "memory", "gpus", "pods", "runs"];
/** The default quota of a queue in a pool. */
const NOTHING: Quota = { guarantee: {}, limit: {}, weight: 100, borrow: true, lend: true, per_person: {} };

/** The label of a resource. */
export function resourceWord(resource: string): string {
  switch (resource) {
    case "cpu": return t("quotas.cpu");
    case "memory": return t("quotas.memory");
    case "gpus": return t("quotas.gpus");
    case "pods": return t("quotas.pods");
    case "runs": return t("quotas.runs");
    default: return t("quotas.gpus-of", { kind: resource.replace("gpus/", "") });
  }
}

/** A queue's quota in a pool. */
export function quotaIn(queue: Queue, pool: string): Quota {
  return { ...NOTHING, ...queue.quotas[pool] };
}

/** An amount as entered: a number, or a text. */
export function shown(amount: unknown): string {
  return typeof amount === "string" || typeof amount === "number" ? String(amount) : "";
}

/** An escaped segment of a JSON pointer. */
function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The possible parents of a queue: groups that are not inside of it. */
export function parents(quotas: Quotas, queue: Pick<Queue, "kind" | "name">): [string, string][] {
  const groups = quotas.queues.filter((one) => one.kind === "group");
  const within = (name: string | null | undefined, depth = 0): boolean => {
    if (typeof name !== "string" || depth > groups.length) return false;
    return (queue.kind === "group" && name === queue.name) || within(groups.find((one) => one.name === name)?.parent, depth + 1);
  };
  const free = groups.filter((group) => !within(group.name)).map((group): [string, string] => [group.name, group.name]);
  return [["", t("quotas.top")], ...free];
}

export function fields(quotas: Quotas, queue: Queue, pool: string): HTMLElement[] {
  const quota = quotaIn(queue, pool);
  const parts: [keyof Quota, string][] = [["guarantee", t("quotas.guarantee")], ["limit", t("quotas.most")]];
  if (queue.kind === "project") parts.push(["per_person", t("quotas.per-person")]);
  const grid = h("div", { class: parts.length === 2 ? "quota-amounts two" : "quota-amounts" },
    h("span", { class: "field-label" }), ...parts.map(([, word]) => h("span", { class: "field-label", "aria-hidden": "true" }, word)));
  const row = (resource: string): void => { grid.append(h("span", {}, resourceWord(resource)), ...parts.map(([part, word]) => cell(pool, part, word, resource, quota[part] as Amounts))); };
  const typed = parts.flatMap(([part]) => Object.keys(quota[part] as Amounts)).filter((name) => name.startsWith("gpus/"));
  const known = (quotas.pools.find((one) => one.pool === pool)?.resources ?? []).map((one) => one.resource).filter((name) => name.startsWith("gpus/"));
  for (const resource of [...PLAIN, ...new Set([...typed, ...known])]) row(resource);
  const weight = input(String(quota.weight), "number");
  weight.min = "1";
  weight.max = "1000";
  const priority = input(quota.max_priority === undefined || quota.max_priority === null ? "" : String(quota.max_priority), "number");
  priority.min = "-1000";
  priority.max = "1000";
  return [
    field("parent", t("quotas.parent"), select(parents(quotas, queue), queue.parent ?? "")),
    h("fieldset", { class: "field plain" }, h("legend", {}, t("quotas.amounts")), grid, h("p", { class: "field-help" }, t("quotas.amounts-help"))),
    typeField(grid, row),
    field("weight", t("quotas.weight"), weight, t("quotas.weight-help")),
    field("max_priority", t("quotas.max-priority"), priority, t("quotas.max-priority-help")),
    check("borrow", t("quotas.borrow"), quota.borrow ?? true, t("quotas.borrow-help")),
    check("lend", t("quotas.lend"), quota.lend ?? true, t("quotas.lend-help")),
  ];
}

function cell(pool: string, part: string, word: string, resource: string, amounts: Amounts): HTMLElement {
  const present = amounts[resource];
  const control = input(shown(present));
  control.dataset["part"] = part;
  control.dataset["resource"] = resource;
  control.setAttribute("aria-label", t("quotas.amount-of", { part: word, resource: resourceWord(resource) }));
  const place = `quotas/${escaped(pool)}/${part}/${escaped(resource)}`;
  return h("div", { "data-field": place }, control);
}

/** A field that adds a row for a GPU type. */
function typeField(grid: HTMLElement, row: (resource: string) => void): HTMLElement {
  const type = input();
  const add = h("button", { class: "button", type: "button" }, t("quotas.add"));
  const more = (): void => {
    const resource = `gpus/${type.value.trim()}`;
    const there = all<HTMLInputElement>("input", grid).some((one) => one.dataset["resource"] === resource);
    if (type.value.trim() && !there) row(resource);
    type.value = "";
  };
  add.addEventListener("click", more);
  // Enter adds the row instead of submitting the form.
  type.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); more(); } });
  const made = field("card-type", t("quotas.card-type"), type, t("quotas.card-type-help"));
  type.after(add);
  return made;
}

/** The queue's quota in this pool, from the form; quotas in other pools are unchanged. */
export function told(form: HTMLFormElement, queue: Queue, pool: string): { parent: string | null; quotas: Queue["quotas"] } {
  const data = new FormData(form);
  const quota: Quota = { guarantee: {}, limit: {}, per_person: {}, weight: Number(said(data, "weight")) || 0, borrow: data.has("borrow"), lend: data.has("lend") };
  const priority = said(data, "max_priority");
  if (priority) quota.max_priority = Number(priority);
  for (const control of all<HTMLInputElement>("[data-resource]", form)) {
    const { part, resource } = control.dataset;
    if (!control.value.trim() || !resource) continue;
    const amounts = (part === "guarantee" ? quota.guarantee : part === "limit" ? quota.limit : quota.per_person) as Amounts;
    amounts[resource] = control.value.trim();
  }
  const others = Object.fromEntries(Object.entries(queue.quotas).filter(([name]) => name !== pool));
  const parent = said(data, "parent") || null;
  return { parent, quotas: isNothing(quota) ? others : { ...others, [pool]: quota } };
}

function isNothing(quota: Quota): boolean {
  const amounts = [quota.guarantee, quota.limit, quota.per_person].some((one) => Object.keys(one ?? {}).length > 0);
  return !amounts && quota.max_priority === undefined && quota.weight === NOTHING.weight && quota.borrow === true && quota.lend === true;
}
