//! The list of projects: administrators create new ones.

import { request } from "../api/client";
import { h } from "../core/dom";
import { openDialog } from "../core/dialog";
import { onSubmit } from "../core/form";
import { t } from "../core/texts";

export function start(): void {
  document.querySelector("#new-project")?.addEventListener("click", ask);
}

function input(name: string, most: number, required: boolean): HTMLInputElement {
  return h("input", { class: "input", id: `f-${name}`, name, maxlength: most, required, autocomplete: "off" });
}

function field(name: string, label: string, help: string, control: HTMLElement): HTMLElement {
  return h("div", { class: "field", "data-field": name }, h("label", { for: `f-${name}` }, label), control, help ? h("p", { class: "field-help" }, help) : null);
}

function ask(): void {
  const name = input("name", 40, true);
  const label = input("label", 80, false);
  const description = input("description", 2000, false);
  const form = h(
    "form",
    { class: "form", id: "project-form" },
    field("name", t("projects.name"), t("projects.name-help"), name),
    field("label", t("projects.label"), t("projects.label-help"), label),
    field("description", t("projects.description"), "", description),
  );
  const make = h("button", { class: "button primary", type: "submit", form: "project-form" }, t("projects.create"));
  const cancel = h("button", { class: "button", type: "button" }, t("common.cancel"));
  const dialog = openDialog({ title: t("projects.new"), body: [form], actions: [cancel, make] });
  cancel.addEventListener("click", () => { dialog.close(); });
  onSubmit(form, async () => {
    const called = label.value.trim();
    const body = { name: name.value.trim(), description: description.value.trim(), ...(called ? { label: called } : {}) };
    await request("POST", "/projects", body);
    dialog.close();
    location.assign(`/projects/${body.name}`);
  });
  name.focus();
}
