//! Forms that send JSON: the button is busy meanwhile, and each error appears at its field.

import { ApiProblem } from "../api/problem";
import { h, icon } from "./dom";
import { toast } from "./toast";

/** Calls `send` when the form is submitted, and shows the response's problems in the form. */
export function onSubmit(form: HTMLFormElement, send: (data: FormData) => Promise<void>): void {
  form.noValidate = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit(form, send);
  });
}

async function submit(form: HTMLFormElement, send: (data: FormData) => Promise<void>): Promise<void> {
  // In a dialog the button is outside the form. A double click must submit only once.
  const button = [...form.elements].find((one) => one instanceof HTMLButtonElement && one.type === "submit");
  if (button?.ariaBusy === "true") return;
  clearProblems(form);
  await busy(button, () => showing(form, () => send(new FormData(form))));
}

/** Marks a button as busy while `work` runs. */
export async function busy(button: Element | null | undefined, work: () => Promise<void>): Promise<void> {
  if (button) button.ariaBusy = "true";
  try {
    await work();
  } finally {
    if (button) button.ariaBusy = null;
  }
}

/** Calls the API outside a form; an error becomes a toast. */
export async function trying(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), "error");
  }
}

async function showing(form: HTMLFormElement, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ApiProblem) showProblem(form, error);
    else toast(error instanceof Error ? error.message : String(error), "error");
  }
}

/** Removes the errors of the last attempt. */
export function clearProblems(form: HTMLElement): void {
  for (const old of form.querySelectorAll(".field-error, .form-problem")) old.remove();
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

/**
 * Shows each problem at the field that its path names (its longest `data-field` suffix), the rest above the
 * form.
 */
export function showProblem(form: HTMLElement, problem: ApiProblem): void {
  const rest: string[] = [];
  // Only errors cause a rejection: warnings beside them need not be fixed.
  const errors = problem.problems.filter((one) => one.severity === "error");
  for (const one of errors.length > 0 ? errors : problem.problems) {
    const field = fieldOf(form, one.path);
    if (field) markField(field, one.message);
    else rest.push(one.path ? `${one.path}: ${one.message}` : one.message);
  }
  if (rest.length > 0 || problem.problems.length === 0) {
    const lines = rest.length > 0 ? rest : [problem.message];
    const text = h("div", {}, ...lines.map((line) => h("p", {}, line)));
    form.prepend(h("div", { class: "callout error form-problem", role: "alert" }, icon("error"), text));
  }
  form.querySelector<HTMLElement>("[aria-invalid]")?.focus();
}

function fieldOf(form: HTMLElement, path: string): HTMLElement | null {
  const parts = path.split("/").filter(Boolean);
  for (let from = 0; from < parts.length; from += 1) {
    for (let to = parts.length; to > from; to -= 1) {
      const field = form.querySelector<HTMLElement>(`[data-field="${CSS.escape(parts.slice(from, to).join("/"))}"]`);
      if (field) return field;
    }
  }
  return null;
}

function markField(field: HTMLElement, message: string): void {
  const input = field.querySelector<HTMLElement>("input, select, textarea");
  field.closest("details")?.setAttribute("open", "");
  const before = field.querySelectorAll(".field-error").length;
  const id = `e-${field.dataset["field"] ?? ""}${before === 0 ? "" : `-${before}`}`;
  field.append(h("p", { class: "field-error", id }, message));
  if (!input) return;
  input.setAttribute("aria-invalid", "true");
  const described = input.getAttribute("aria-describedby")?.split(" ").filter((other) => other !== id) ?? [];
  input.setAttribute("aria-describedby", [...described, id].join(" "));
}
