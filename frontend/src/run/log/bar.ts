// Parts of the log's toolbar.

import { h, icon } from "../../core/dom";
import { t } from "../../core/texts";
import { TIMES } from "./times";

export function isOn(button: HTMLElement): boolean {
  return button.ariaPressed === "true";
}

/** A toggle button; its own listener runs first, so later ones see the new state. */
export function toggle(label: string, title: string, on: boolean): HTMLButtonElement {
  const button = h("button", { class: "button small toggle", type: "button", title, "aria-label": title, "aria-pressed": String(on) }, label);
  button.addEventListener("click", () => { button.ariaPressed = String(!isOn(button)); });
  return button;
}

/** A toggle button whose state is remembered under this name. */
export function remembered(name: string, label: string, title: string, usual: boolean): HTMLButtonElement {
  const button = toggle(label, title, (localStorage.getItem(name) ?? (usual ? "on" : "off")) === "on");
  button.addEventListener("click", () => { localStorage.setItem(name, isOn(button) ? "on" : "off"); });
  return button;
}

/** The time format, as last chosen under this name; disabled until a line has a time. */
export function timesChoice(name: string): HTMLSelectElement {
  const words = { none: t("run.log-times-none"), clock: t("run.log-times-clock"), since: t("run.log-times-since") };
  const kept = localStorage.getItem(name);
  const options = TIMES.map((value) => h("option", { value, selected: value === kept }, words[value]));
  const choice = h("select", { class: "input log-times", "aria-label": t("run.log-times"), disabled: true }, ...options);
  choice.addEventListener("change", () => { localStorage.setItem(name, choice.value); });
  return choice;
}

/** A button with an icon alone. */
export function small(name: string, label: string, onclick: () => void): HTMLButtonElement {
  return h("button", { class: "button small quiet icon-only", type: "button", "aria-label": label, title: label, onclick }, icon(name));
}

/** A button with a text. */
export function action(label: string, onclick: () => void): HTMLButtonElement {
  return h("button", { class: "button small", type: "button", onclick }, label);
}
