//! What the editor knows of pipeline documents: the published schema, and the arguments of the installed templates.

import { request } from "../api/client";
import { language } from "../core/texts";
import type { Entry } from "./outline";
import { at, type Schema } from "./schema";

/** An installed template, as `/schemas/arguments` has it. */
export interface KnownTemplate {
  version: string;
  versions: string[];
  group: string;
  label: { en: string; zh: string };
  help: { en: string; zh: string };
  framework: string;
  parameters: Schema;
  roles: { name: string; replicas: number | string; resources?: Record<string, unknown> }[];
  outputs?: { name: string; description?: string }[];
}

/** All of it. */
export interface Knowledge {
  pipeline: Schema;
  templates: Record<string, KnownTemplate>;
}

/** Asks the server once. */
export async function learn(): Promise<Knowledge> {
  const [pipeline, templates] = await Promise.all([
    request("GET", "/schemas/pipeline"),
    request("GET", "/schemas/arguments"),
  ]);
  const known = Object.entries(templates.data as Knowledge["templates"]).map(([name, one]) => [name, { ...one, parameters: inLanguage(one.parameters) }]);
  return { pipeline: pipeline.data, templates: Object.fromEntries(known) as Record<string, KnownTemplate> };
}

/** A template's schema with the reader's titles and descriptions: `x-form` has the Chinese ones. */
export function inLanguage(schema: Schema): Schema {
  return language() === "zh" ? inChinese(schema) : schema;
}

/** See `inLanguage`. */
export function inChinese(schema: Schema): Schema {
  const zh = schema["x-form"]?.zh;
  const inside = schema.properties && Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, inChinese(one)]));
  return {
    ...schema,
    ...(zh?.title === undefined ? {} : { title: zh.title }),
    ...(zh?.help === undefined ? {} : { description: zh.help }),
    ...(inside && { properties: inside }),
  };
}

/** A template's text in the reader's language. */
export function local(text: { en: string; zh: string }): string {
  return language() === "zh" ? text.zh : text.en;
}

/** The value of a key of the document. */
export function valueOf(entries: Entry[], path: (string | number)[]): string | undefined {
  const wanted = path.join("/");
  return entries.find((entry) => entry.path.join("/") === wanted)?.value;
}

/** The template that a task names. */
export function templateOf(knowledge: Knowledge, entries: Entry[], task: number): KnownTemplate | undefined {
  const name = valueOf(entries, ["tasks", task, "template"])?.split("@")[0];
  return name === undefined ? undefined : knowledge.templates[name];
}

/** The schemas of a path; below a task's `arguments` those of its template. */
export function schemasAt(knowledge: Knowledge, entries: Entry[], path: (string | number)[]): Schema[] {
  const [tasks, task, key, ...rest] = path;
  if (tasks === "tasks" && typeof task === "number" && key === "arguments") {
    const template = templateOf(knowledge, entries, task);
    return template ? at(template.parameters, rest) : [];
  }
  return at(knowledge.pipeline, path);
}
