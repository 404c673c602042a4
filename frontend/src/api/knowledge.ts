//! Knowledge about pipeline documents from the server: the schema, and the arguments of the installed
//! templates.

import { language } from "../core/texts";
import type { Schema } from "../graph/schema";
import { request } from "./client";

/** An installed template, as in `/schemas/arguments`. */
export interface KnownTemplate {
  version: string;
  versions: string[];
  group: string;
  label: { en: string; zh: string };
  help: { en: string; zh: string };
  framework: string;
  parameters: Schema;
  /** Absent for manual tasks. */
  roles?: { name: string; replicas: number | string; resources?: Record<string, unknown> }[];
  outputs?: { name: string; description?: string }[];
}

export interface Knowledge {
  pipeline: Schema;
  templates: Record<string, KnownTemplate>;
}

/** Loads it from the server. */
export async function learn(): Promise<Knowledge> {
  const [pipeline, templates] = await Promise.all([
    request("GET", "/schemas/pipeline"),
    request("GET", "/schemas/arguments"),
  ]);
  const known = Object.entries(templates.data as Knowledge["templates"]).map(([name, one]) => [name, { ...one, parameters: inLanguage(one.parameters) }]);
  return { pipeline: pipeline.data, templates: Object.fromEntries(known) as Record<string, KnownTemplate> };
}

/** A template's schema with localized titles and descriptions: `x-form` has the Chinese ones. */
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

/** A template's text in the user's language. */
export function local(text: { en: string; zh: string }): string {
  return language() === "zh" ? text.zh : text.en;
}
