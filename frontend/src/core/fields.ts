//! Fields of the dialogs that ask for something.

import { h } from "./dom";

/** A field: its label, its control (`name` is what a problem's path ends in), and help below it. */
export function field(name: string, label: string, control: HTMLElement, help = ""): HTMLElement {
  control.id = `d-${name}`;
  control.setAttribute("name", name);
  if (help) control.setAttribute("aria-describedby", `dh-${name}`);
  const below = help ? h("p", { class: "field-help", id: `dh-${name}` }, help) : null;
  return h("div", { class: "field", "data-field": name }, h("label", { for: control.id }, label), control, below);
}

/** A text. */
export function input(value = "", type = "text"): HTMLInputElement {
  return h("input", { class: "input", type, value, autocapitalize: "none", spellcheck: "false", autocomplete: "off" });
}

/** A control that must not be left empty. */
export function required<T extends HTMLInputElement | HTMLSelectElement>(control: T): T {
  control.required = true;
  return control;
}

/** A choice: values and their words, the chosen one first or named. */
export function select(options: [string, string][], chosen?: string): HTMLSelectElement {
  const made = options.map(([value, word]) => h("option", { value, selected: value === chosen }, word));
  return h("select", { class: "input" }, ...made);
}

/** A yes or no. */
export function check(name: string, label: string, checked: boolean, help = ""): HTMLElement {
  const box = h("input", { type: "checkbox", name, id: `d-${name}`, checked });
  const word = h("span", {}, label, help ? h("span", { class: "field-help people-help" }, help) : null);
  return h("div", { class: "field", "data-field": name }, h("label", { class: "check", for: `d-${name}` }, box, word));
}

/** What a form's field says as it was typed: a password may begin or end with a space. */
export function exact(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value : "";
}

/** What a form's field says, without spaces around. */
export function said(data: FormData, name: string): string {
  return exact(data, name).trim();
}
