//! Converts a template's JSON Schema to form fields. Pure. It supports the same keywords as the server's
//! checker.

import type { Json } from "../../graph/document";
import { isMapping } from "../path";
import type { Field, Kind, Variant } from "./kinds";

/** The part of JSON Schema that forms use. */
export interface ParameterSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly items?: ParameterSchema;
  readonly properties?: Readonly<Record<string, ParameterSchema>>;
  readonly additionalProperties?: ParameterSchema | boolean;
  readonly required?: readonly string[];
  readonly oneOf?: readonly ParameterSchema[];
  readonly anyOf?: readonly ParameterSchema[];
  readonly "x-form"?: { readonly order?: number; readonly group?: string; readonly widget?: string; readonly placeholder?: string };
}

/** The fields of an object schema, in the order of `x-form`. */
export function fieldsOf(schema: ParameterSchema): Field[] {
  const required = new Set(schema.required ?? []);
  const order = (one: ParameterSchema) => one["x-form"]?.order ?? Infinity;
  const entries = Object.entries(schema.properties ?? {}).sort(([, a], [, b]) => Math.sign(order(a) - order(b)) || 0);
  return entries.map(([name, property]) => fieldOf(name, property, required.has(name)));
}

function fieldOf(name: string, schema: ParameterSchema, required: boolean): Field {
  const form = schema["x-form"];
  return {
    name,
    title: schema.title ?? name,
    help: schema.description ?? "",
    required,
    default: schema.default,
    placeholder: form?.placeholder ?? "",
    group: form?.group ?? "",
    kind: kindOf(schema),
  };
}

/** The kind of field for values of a schema. */
export function kindOf(schema: ParameterSchema): Kind {
  if (schema.enum) return { type: "choice", options: schema.enum.filter((option) => option !== null) };
  if (schema.const !== undefined) return { type: "choice", options: [schema.const] };
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (types.length === 0 && alternatives) return variants(alternatives.filter((one) => one.type !== "null").map((one) => ({ name: one.title ?? nameOf(kindOf(one)), kind: kindOf(one) })));
  if (types.length > 1 && types.every(isScalar)) return { type: "scalar" };
  if (types.length > 1) return variants(ordered(types, schema).map((type) => ({ name: type, kind: single(type, schema) })));
  return single(types[0] ?? "", schema);
}

function isScalar(type: string): boolean {
  return ["string", "number", "integer", "boolean"].includes(type);
}

// The notation of the widget comes first: an empty field starts with it.
function ordered(types: readonly string[], schema: ParameterSchema): string[] {
  const widget = schema["x-form"]?.widget;
  const first = widget === "list" ? "array" : widget === "map" ? "object" : widget === "text" ? "string" : "";
  return [...types].sort((a, b) => Number(b === first) - Number(a === first));
}

function variants(all: Variant[]): Kind {
  const [only] = all;
  return all.length === 1 && only ? only.kind : { type: "variants", variants: all };
}

function single(type: string, schema: ParameterSchema): Kind {
  const widget = schema["x-form"]?.widget;
  if (type === "string") return text(schema, widget);
  if (type === "integer" || type === "number") return number(type === "integer", schema);
  if (type === "boolean") return { type: "boolean" };
  if (type === "array" && schema.items) {
    return { type: "list", item: kindOf(schema.items), placeholder: schema["x-form"]?.placeholder ?? "" };
  }
  if (type === "object" && schema.properties) return { type: "object", fields: fieldsOf(schema) };
  if (type === "object" && isMapping(schema.additionalProperties)) return { type: "map", value: kindOf(schema.additionalProperties) };
  return { type: "yaml" };
}

function text(schema: ParameterSchema, widget: string | undefined): Kind {
  if (widget === "code") return { type: "code" };
  if (schema.format === "pipeline") return { type: "pipeline" };
  if (widget === "file" || schema.format === "path") return { type: "file" };
  return { type: "text", long: widget === "textarea" };
}

function number(integer: boolean, schema: ParameterSchema): Kind {
  const step = integer ? 1 : 0;
  const minimum = schema.minimum ?? (schema.exclusiveMinimum === undefined ? undefined : schema.exclusiveMinimum + step);
  const maximum = schema.maximum ?? (schema.exclusiveMaximum === undefined ? undefined : schema.exclusiveMaximum - step);
  return { type: "number", integer, ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
}

/** The JSON Schema type of a kind's values. */
export function nameOf(kind: Kind): string {
  const names: Partial<Record<Kind["type"], string>> = { list: "array", map: "object", object: "object", number: "number", boolean: "boolean", choice: "choice", yaml: "yaml" };
  return names[kind.type] ?? "string";
}
