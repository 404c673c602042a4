//! A project: its members and settings, for its owners.

import { request } from "../api/client";
import type { components } from "../api/schema";
import { ApiProblem } from "../api/problem";
import { all, around, need } from "../core/dom";
import { confirm } from "../core/dialog";
import { onSubmit, trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { watchBudget } from "../people/budget";
import { watchSizing } from "../people/sizing";

type Project = components["schemas"]["ProjectView"];

export function start(): void {
  const places = document.querySelector<HTMLFormElement>("#places-form");
  if (places) onSubmit(places, (data) => bind(places, data));
  watchBudget(document.querySelector<HTMLElement>("#set-budget"));
  watchSizing();
  const settings = document.querySelector<HTMLFormElement>("#settings-form");
  if (!settings) return;
  const project = settings.dataset["project"] ?? "";
  onSubmit(need<HTMLFormElement>("#add-member"), async (data) => {
    await add(project, text(data, "user"), text(data, "role"));
    again(t("projects.member-added", { name: text(data, "user") }));
  });
  onSubmit(settings, async (data) => {
    const body = { label: text(data, "label"), description: text(data, "description"), keeping: keeping(data), sizing: text(data, "sizing") as Project["sizing"] };
    await request("PATCH", `/projects/${project}`, body, { etag: settings.dataset["etag"] ?? "*" });
    again(t("projects.saved"));
  });
  for (const row of all("[data-member]")) watchMember(project, row);
  need("#delete-project").addEventListener("click", () => void trying(() => remove(project, settings.dataset["etag"] ?? "*")));
}

async function bind(form: HTMLFormElement, data: FormData): Promise<void> {
  const usual = text(data, "usual");
  const allowed = data.getAll("allowed").filter((one) => typeof one === "string");
  const body = { allowed, ...(usual ? { usual } : {}) };
  await request("PUT", `/projects/${form.dataset["project"] ?? ""}/places`, body, { etag: form.dataset["etag"] ?? "*" });
  again(t("projects.saved"));
}

async function add(project: string, user: string, role: string): Promise<void> {
  try {
    await request("PUT", `/projects/${project}/members/${encodeURIComponent(user)}`, { role });
  } catch (error) {
    // The name is part of the URL, which has no field: the error is shown at the name's field.
    if (!(error instanceof ApiProblem) || error.kind !== "not-found") throw error;
    throw new ApiProblem(error.status, { problems: [{ severity: "error", code: "not-found", path: "/user", message: error.message }] });
  }
}

function text(data: FormData, key: string): string {
  const value = data.get(key);
  return typeof value === "string" ? value.trim() : "";
}

/** Empty fields mean the cluster's default, or off. */
function keeping(data: FormData): { objects?: number; logs?: string } {
  const minutes = text(data, "objects");
  const logs = text(data, "logs");
  return { ...(minutes ? { objects: Math.round(Number(minutes) * 60) } : {}), ...(logs ? { logs } : {}) };
}

function again(message: string): void {
  toastLater(message);
  location.reload();
}

function watchMember(project: string, row: HTMLElement): void {
  const name = row.dataset["member"] ?? "";
  const path = `/projects/${project}/members/${name}`;
  const etag = row.dataset["etag"] ?? "*";
  const select = row.querySelector<HTMLSelectElement>("[data-role]");
  select?.addEventListener("change", () => void trying(() => changeRole(path, select, etag)));
  row.addEventListener("click", (event) => {
    if (around(event, "[data-remove]")) void trying(() => expel(path, name, etag));
  });
}

async function changeRole(path: string, select: HTMLSelectElement, etag: string): Promise<void> {
  try {
    await request("PUT", path, { role: select.value }, { etag });
  } catch (error) {
    for (const option of select.options) option.selected = option.defaultSelected;
    throw error;
  }
  again(t("projects.role-changed"));
}

async function expel(path: string, name: string, etag: string): Promise<void> {
  const question = { title: t("projects.remove-title", { name }), text: t("projects.remove-text"), action: t("projects.remove"), danger: true };
  if (!(await confirm(question))) return;
  await request("DELETE", path, undefined, { etag });
  again(t("projects.removed", { name }));
}

async function remove(project: string, etag: string): Promise<void> {
  const question = { title: t("projects.delete"), text: t("projects.delete-text"), action: t("projects.delete"), danger: true, typed: project };
  if (!(await confirm(question))) return;
  await request("DELETE", `/projects/${project}`, undefined, { etag });
  toastLater(t("projects.deleted", { name: project }));
  location.assign("/projects");
}
