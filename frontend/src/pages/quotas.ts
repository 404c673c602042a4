//! Quotas: an administrator edits the quota of a group or project, and sees the impact before saving. Members
//! see the same for their own projects, without saving.

import { request } from "../api/client";
import { ApiProblem } from "../api/problem";
import { ask } from "../core/ask";
import { confirm, openDialog } from "../core/dialog";
import { all, carried, h, icon } from "../core/dom";
import { check, field, input, required, said, select } from "../core/fields";
import { onSubmit, trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { fields, parents, told, type Queue, type Quotas } from "./quota-form";
import { startLimits } from "./limits";
import { startPriorityClasses } from "./priority-classes";
import { Preview } from "./quota-preview";
import { whatIf } from "./quota-what-if";

export function start(): void {
  startLimits();
  startPriorityClasses();
  const quotas = carried("quotas-data") as Quotas;
  document.querySelector("#new-group")?.addEventListener("click", () => { add(quotas); });
  document.querySelector("#what-if")?.addEventListener("click", () => { whatIf(quotas, document.querySelector("#new-group") !== null); });
  for (const button of all<HTMLButtonElement>("[data-edit-queue], [data-try-queue]")) {
    const tried = button.dataset["tryQueue"];
    const [kind, name] = (button.dataset["editQueue"] ?? tried ?? "").split("/");
    const pool = button.dataset["pool"] ?? "";
    button.addEventListener("click", () => {
      const queue = quotas.queues.find((one) => one.kind === kind && one.name === name);
      if (queue) (tried === undefined ? edit : tryOut)(quotas, queue, pool);
    });
  }
}

function add(quotas: Quotas): void {
  const group = { kind: "group", name: "" };
  ask({
    title: t("quotas.new-group"),
    fields: [field("group", t("quotas.name"), required(input()), t("quotas.name-help")), field("parent", t("quotas.parent"), select(parents(quotas, group)))],
    action: t("quotas.make"),
    send: async (data) => {
      const name = said(data, "group");
      const parent = said(data, "parent") || null;
      // Revision 0: an existing group of this name is an error.
      await request("PUT", `/quotas/groups/${encodeURIComponent(name)}`, { parent, quotas: {} }, { etag: '"0"' });
      again(t("quotas.changed", { name }));
    },
  });
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}

type Sent = ReturnType<typeof told> & { below_use: boolean };

async function put(queue: Queue, body: Sent): Promise<void> {
  const etag = `"${queue.revision}"`;
  if (queue.kind === "group") await request("PUT", `/quotas/groups/${queue.name}`, body, { etag });
  else await request("PUT", `/projects/${queue.name}/quota`, body, { etag });
}

/** Simulates other amounts, for users who may not save them. */
function tryOut(quotas: Quotas, queue: Queue, pool: string): void {
  const form = h("form", { class: "form", id: "quota-form" });
  const preview = new Preview(() => [{ kind: "project", name: queue.name, ...told(form, queue, pool), parent: queue.parent ?? null }]);
  const [, amounts, ...others] = fields(quotas, queue, pool);
  form.append(h("p", { class: "muted" }, t("quotas.try-text")));
  if (amounts) form.append(amounts, preview.element, ...others);
  openDialog({ title: t("quotas.try-name", { name: queue.name, pool }), body: [form], large: true });
  form.addEventListener("input", () => { preview.later(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); });
  form.querySelector<HTMLElement>("select, input")?.focus();
}

function edit(quotas: Quotas, queue: Queue, pool: string): void {
  const below = h("div", { hidden: true }, check("below_use", t("quotas.below-use"), false, t("quotas.below-use-help")));
  const form = h("form", { class: "form", id: "quota-form" });
  const kind = queue.kind === "group" ? "group" as const : "project" as const;
  const preview = new Preview(() => [{ kind, name: queue.name, ...told(form, queue, pool) }]);
  // Below the amounts, where it is visible during input.
  const [place, amounts, ...others] = fields(quotas, queue, pool);
  if (place && amounts) form.append(place, amounts, preview.element, ...others, below);
  const save = h("button", { class: "button primary", type: "submit", form: form.id }, t("quotas.save"));
  const away = queue.revision > 0 && h("button", { class: "button danger", type: "button" }, t(kind === "group" ? /* text */ "quotas.remove-group" : /* text */ "quotas.take-back"));
  const dialog = openDialog({
    title: t("quotas.change-name", { name: queue.name, pool }),
    body: [form],
    actions: away ? [away, save] : [save],
    large: true,
  });
  if (away) away.addEventListener("click", () => { dialog.close(); void trying(() => remove(queue)); });
  form.addEventListener("input", () => { preview.later(); });
  form.querySelector<HTMLElement>("select, input")?.focus();
  onSubmit(form, async (data) => {
    try {
      await put(queue, { ...told(form, queue, pool), below_use: data.has("below_use") });
    } catch (error) {
      if (error instanceof ApiProblem && error.kind === "stale") { stale(form); return; }
      if (error instanceof ApiProblem && error.problems.some((one) => one.code === "conflict")) below.hidden = false;
      throw error;
    }
    dialog.close();
    again(t("quotas.changed", { name: queue.name }));
  });
}

/** A conflicting change: nothing was saved, and the input stays until it is discarded. */
function stale(form: HTMLFormElement): void {
  const show = h("button", { class: "button small", type: "button" }, t("quotas.show-present"));
  show.addEventListener("click", () => { location.reload(); });
  const text = h("div", {}, h("p", {}, t("quotas.stale")), show);
  form.prepend(h("div", { class: "callout error form-problem", role: "alert" }, icon("error"), text));
  show.focus();
}

async function remove(queue: Queue): Promise<void> {
  const { name } = queue;
  const action = t(queue.kind === "group" ? /* text */ "quotas.remove-group" : /* text */ "quotas.take-back");
  if (!(await confirm({ title: t("quotas.remove-title", { name }), text: t("quotas.remove-text"), action, danger: true }))) return;
  const etag = `"${queue.revision}"`;
  if (queue.kind === "group") await request("DELETE", `/quotas/groups/${name}`, undefined, { etag });
  else await request("DELETE", `/projects/${name}/quota`, undefined, { etag });
  again(t("quotas.removed", { name }));
}
