//! The installed templates for the palette, the canvas and the form.

import type { Knowledge } from "../api/knowledge";
import type { Schema } from "../graph/schema";

/** A text in both languages: `local` of api/knowledge.ts selects the user's. */
export interface Both {
  readonly en: string;
  readonly zh: string;
}

export interface TemplateRole {
  readonly name: string;
  /** A number, or an expression. */
  readonly replicas: number | string;
  /** The default resources of each worker, from the template: `{cpu: 2, memory: 4Gi}`. */
  readonly resources?: Readonly<Record<string, unknown>>;
}

/** The newest version of a template. */
export interface TemplateInfo {
  readonly name: string;
  readonly version: string;
  /** Every installed version, the oldest first. */
  readonly versions: readonly string[];
  /** Its group in the palette. */
  readonly group: string;
  readonly label: Both;
  /** Markdown; the first paragraph is the summary. */
  readonly help: Both;
  readonly framework: string;
  /** A JSON Schema with `x-form` hints. */
  readonly parameters: Schema;
  readonly roles: readonly TemplateRole[];
  readonly outputs: readonly { readonly name: string; readonly description?: string }[];
}

export type Templates = ReadonlyMap<string, TemplateInfo>;

export function templatesOf(knowledge: Knowledge): Templates {
  return new Map(Object.entries(knowledge.templates).map(([name, one]) => [name, { ...one, name, roles: one.roles ?? [], outputs: one.outputs ?? [] }]));
}

/** The template of a task, whichever version the task names. */
export function templateOfTask(templates: Templates, task: { readonly template: string }): TemplateInfo | undefined {
  return templates.get(task.template.split("@")[0] ?? "");
}
