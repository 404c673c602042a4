//! Form fields of dialogs.

import { h } from "./dom";

/** A field: its label, its control (`name` is the last segment of a problem's path), and help below it. */
export function field(name: string, label: string, control: HTMLElement, help = ""): HTMLElement {
  control.id = `d-${name}`;
  control.setAttribute("name", name);
  if (help) control.setAttribute("aria-describedby", `dh-${name}`);
  const below = help ? h("p", { class: "field-help", id: `dh-${name}` }, help) : null;
  return h("div", { class: "field", "data-field": name }, h("label", { for: control.id }, label), control, below);
}

/** A text field. */
export function input(value = "", type = "text"): HTMLInputElement {
  return h("input", { class: "input", type, value, autocapitalize: "none", spellcheck: "false", autocomplete: "off" });
}

/** Makes a control required. */
export function required<T extends HTMLInputElement | HTMLSelectElement>(control: T): T {
  control.required = true;
  return control;
}

/** A select: values and labels, with the first or the given one selected. */
export function select(options: [string, string][], chosen?: string): HTMLSelectElement {
  const made = options.map(([value, word]) => h("option", { value, selected: value === chosen }, word));
  return h("select", { class: "input" }, ...made);
}

/** A checkbox. */
export function check(name: string, label: string, checked: boolean, help = ""): HTMLElement {
  const box = h("input", { type: "checkbox", name, id: `d-${name}`, checked });
  const word = h("span", {}, label, help ? h("span", { class: "field-help people-help" }, help) : null);
  return h("div", { class: "field", "data-field": name }, h("label", { class: "check", for: `d-${name}` }, box, word));
}

/** A field's exact value: a password may begin or end with a space. */
export function exact(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value : "";
}

/** A field's value, trimmed. */
export function said(data: FormData, name: string): string {
  return exact(data, name).trim();
}
