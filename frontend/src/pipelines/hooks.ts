//! The hooks of a pipeline: creation, new URLs, deletion.

import { request } from "../api/client";
import { around, h, need } from "../core/dom";
import { confirm, openDialog } from "../core/dialog";
import { onSubmit, trying } from "../core/form";
import { t } from "../core/texts";
import { toastLater } from "../core/toast";
import { chosen, fields, type Parameters } from "./parameters";

interface Page {
  project: string;
  pipeline: string;
  parameters: Parameters | null;
}

/** Activates the tab. */
export function watchHooks(page: Page): void {
  need("#new-hook").addEventListener("click", () => { ask(page); });
  document.addEventListener("click", (event) => {
    const card = around(event, "[data-hook]");
    if (!card) return;
    if (around(event, "[data-rotate]")) void trying(() => rotate(page, card));
    else if (around(event, "[data-delete-hook]")) void trying(() => remove(page, card));
  });
}

const pathOf = ({ project, pipeline }: Page) => `/projects/${project}/pipelines/${pipeline}/hooks`;

function again(message: string): void {
  toastLater(message);
  location.reload();
}

function ask(page: Page): void {
  const parameters = page.parameters ?? {};
  const optional = Object.fromEntries(Object.entries(parameters).map(([name, one]) => [name, { ...one, default: one.default ?? "" }]));
  const name = h("input", { class: "input", id: "f-name", name: "hook-name", maxlength: 80, required: true, autocomplete: "off" });
  const field = h("div", { class: "field", "data-field": "name" }, h("label", { for: "f-name" }, t("pipeline.hook-name")), name);
  const form = h("form", { class: "form", id: "hook-form" }, field, ...fields(optional));
  const make = h("button", { class: "button primary", type: "submit", form: "hook-form" }, t("pipeline.create"));
  const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
  const dialog = openDialog({ title: t("pipeline.new-hook"), body: [form], actions: [cancel, make] });
  cancel.addEventListener("click", () => { dialog.close(); });
  onSubmit(form, async (data) => {
    await request("POST", pathOf(page), { name: name.value, parameters: chosen(optional, data) });
    dialog.close();
    again(t("pipeline.hook-made"));
  });
  name.focus();
}

async function rotate(page: Page, card: HTMLElement): Promise<void> {
  const question = { title: t("pipeline.rotate-hook"), text: t("pipeline.rotate-text"), action: t("pipeline.rotate-hook"), danger: true };
  if (!(await confirm(question))) return;
  await request("PATCH", `${pathOf(page)}/${card.dataset["hook"] ?? ""}`, {}, { etag: card.dataset["etag"] ?? "*" });
  again(t("pipeline.hook-rotated"));
}

async function remove(page: Page, card: HTMLElement): Promise<void> {
  const question = { title: t("pipeline.delete-hook-title", { name: card.dataset["name"] ?? "" }), text: t("pipeline.delete-hook-text"), action: t("pipeline.delete-hook"), danger: true };
  if (!(await confirm(question))) return;
  await request("DELETE", `${pathOf(page)}/${card.dataset["hook"] ?? ""}`, undefined, { etag: card.dataset["etag"] ?? "*" });
  again(t("pipeline.hook-deleted"));
}
