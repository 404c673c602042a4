//! The template of a task, in the version that it names.

import { language } from "../../core/texts";
import type { Task } from "../../graph/document";
import type { FormTemplate } from "../knowledge";

/** A reference `name@1.0.0` in its two parts; the version is empty when it names none. */
export function reference(template: string): { name: string; version: string } {
  const [name = "", version = ""] = template.split("@");
  return { name, version };
}

/** The template that a task names; undefined when it is not installed. */
export function templateOf(templates: ReadonlyMap<string, FormTemplate>, task: Task): FormTemplate | undefined {
  return templates.get(reference(task.template).name);
}

/** A text of a template in the reader's language. */
export function local(text: { readonly en: string; readonly zh: string }): string {
  return language() === "zh" ? text.zh : text.en;
}
