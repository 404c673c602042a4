//! The installed templates, as the palette, the canvas and the form know them.

import type { Knowledge } from "../api/knowledge";
import type { Schema } from "../graph/schema";

/** A text in both languages: `local` of api/knowledge.ts gives the reader's. */
export interface Both {
  readonly en: string;
  readonly zh: string;
}

/** The workers of one role. */
export interface TemplateRole {
  readonly name: string;
  /** A number, or an expression. */
  readonly replicas: number | string;
  /** What each gets when the task does not say, as the template has it: `{cpu: 2, memory: 4Gi}`. */
  readonly resources?: Readonly<Record<string, unknown>>;
}

/** The newest version of a template. */
export interface TemplateInfo {
  readonly name: string;
  readonly version: string;
  /** Every installed version, the oldest first. */
  readonly versions: readonly string[];
  /** What it is listed under in the palette. */
  readonly group: string;
  readonly label: Both;
  /** Markdown; its first paragraph says what it is. */
  readonly help: Both;
  readonly framework: string;
  /** A JSON Schema with `x-form` hints. */
  readonly parameters: Schema;
  readonly roles: readonly TemplateRole[];
  readonly outputs: readonly { readonly name: string; readonly description?: string }[];
}

/** Templates by name. */
export type Templates = ReadonlyMap<string, TemplateInfo>;

/** All of them. */
export function templatesOf(knowledge: Knowledge): Templates {
  return new Map(Object.entries(knowledge.templates).map(([name, one]) => [name, { ...one, name, roles: one.roles ?? [], outputs: one.outputs ?? [] }]));
}

/** The template that a task names, whatever version it asks for. */
export function templateOfTask(templates: Templates, task: { readonly template: string }): TemplateInfo | undefined {
  return templates.get(task.template.split("@")[0] ?? "");
}
