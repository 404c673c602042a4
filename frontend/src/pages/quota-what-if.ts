//! Simulates moving a guarantee from one queue to another: which jobs would be preempted, which would start.
//! An administrator may apply it.

import { request } from "../api/client";
import { openDialog } from "../core/dialog";
import { h } from "../core/dom";
import { field, input, said, select } from "../core/fields";
import { onSubmit } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { quotaIn, resourceWord, shown, type Queue, type Quotas } from "./quota-form";
import { Preview, type Edit } from "./quota-preview";

const BINARY: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/** An amount in thousandths of a CPU, bytes or pieces; null if it is malformed. */
export function amount(resource: string, text: string): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/.exec(text);
  if (!found) return null;
  const [number, unit] = [Number(found[1]), found[2] ?? ""];
  if (resource === "cpu") return unit === "m" ? number : unit === "" ? number * 1000 : null;
  if (resource === "memory") return unit === "" ? number : scaled(number, unit.replace(/B$/, ""));
  return unit === "" && Number.isInteger(number) ? number : null;
}

function scaled(number: number, unit: string): number | null {
  const scale = BINARY[unit];
  return scale === undefined ? null : number * scale;
}

/** Formats an amount so that it can be parsed again. */
export function written(resource: string, value: number): string | number {
  if (resource === "cpu") return `${Math.round(value)}m`;
  return resource === "memory" ? String(Math.round(value)) : value;
}

/** The key of a queue in a select. */
const key = (queue: Queue): string => `${queue.kind}/${queue.name}`;

interface Move { pool: string; resource: string; much: number; from: Queue; to: Queue }

/** The queue with a guarantee changed by this amount; a lower limit is raised with it. */
function changed({ pool, resource }: Move, queue: Queue, more: number): Edit {
  const quota = quotaIn(queue, pool);
  const has = (amounts: unknown): number | null => {
    const text = (amounts as Record<string, unknown> | undefined)?.[resource];
    return text === undefined ? null : amount(resource, shown(text));
  };
  const then = Math.max(0, (has(quota.guarantee) ?? 0) + more);
  const limit = has(quota.limit);
  const raised = limit !== null && limit < then ? { [resource]: written(resource, then) } : {};
  const quotas = { ...queue.quotas, [pool]: {
    ...quota,
    guarantee: { ...(quota.guarantee as object), [resource]: written(resource, then) },
    limit: { ...(quota.limit as object), ...raised },
  } };
  return { kind: queue.kind === "group" ? "group" : "project", name: queue.name, parent: queue.parent ?? null, quotas };
}

/** Opens the dialog. Without the right to change quotas, it simulates changes of one's own projects only. */
export function whatIf(quotas: Quotas, mayMove: boolean): void {
  const queues = quotas.queues.filter((queue) => mayMove || queue.kind === "project").map((queue): [string, string] => [key(queue), key(queue)]);
  const resources = [...new Set(["gpus", "cpu", "memory", ...quotas.pools.flatMap((pool) => pool.resources.map((one) => one.resource))])];
  const pool = select(quotas.pools.map((one): [string, string] => [one.pool, one.pool]));
  const form = h("form", { class: "form", id: "what-if-form" },
    field("pool", t("quotas.pool"), pool),
    field("resource", t("quotas.resource"), select(resources.map((name): [string, string] => [name, resourceWord(name)]))),
    field("amount", t("quotas.amount"), input("")),
    field("from", t("quotas.from"), select(queues)),
    field("to", t("quotas.to"), select(queues, queues[1]?.[0])));
  const move = (): Move | null => {
    const data = new FormData(form);
    const resource = said(data, "resource");
    const queue = (name: string): Queue | undefined => quotas.queues.find((one) => key(one) === said(data, name));
    const [from, to, much] = [queue("from"), queue("to"), amount(resource, said(data, "amount"))];
    return from && to && much && from !== to ? { pool: said(data, "pool"), resource, much, from, to } : null;
  };
  const preview = new Preview(() => {
    const wanted = move();
    return wanted && [changed(wanted, wanted.from, -wanted.much), changed(wanted, wanted.to, wanted.much)];
  });
  if (!mayMove) form.prepend(h("p", { class: "muted" }, t("quotas.try-text")));
  form.append(preview.element);
  const apply = mayMove && h("button", { class: "button primary", type: "submit", form: form.id }, t("quotas.apply"));
  openDialog({ title: t("quotas.what-if-title"), body: [form], actions: apply ? [apply] : [], large: true });
  form.addEventListener("input", () => { preview.later(); });
  pool.focus();
  if (!mayMove) {
    form.addEventListener("submit", (event) => { event.preventDefault(); });
    return;
  }
  onSubmit(form, async () => {
    const wanted = move();
    if (!wanted) throw new Error(t("quotas.same"));
    await done(wanted);
  });
}

/** Applies both edits in one request: both or neither. */
async function done(move: Move): Promise<void> {
  const { from, to, resource, much } = move;
  const edits = [{ ...changed(move, from, -much), revision: from.revision }, { ...changed(move, to, much), revision: to.revision }];
  await request("POST", "/quotas/changes", { edits });
  toastLater(t("quotas.moved", { amount: written(resource, much), resource: resourceWord(resource), from: from.name, to: to.name }));
  location.reload();
}
