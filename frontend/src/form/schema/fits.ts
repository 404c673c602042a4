//! Whether a field can edit a value, and which arguments another template accepts. Pure.

import type { Json, JsonObject } from "../../graph/document";
import { isMapping, same } from "../path";
import type { Field, Kind, Variant } from "./kinds";

/** Whether a value is an expression, or text with one: its type is known only after evaluation. */
export function isExpression(value: unknown): value is string {
  return typeof value === "string" && value.includes("{{");
}

/** Whether a field of this kind can show a value and write it back unchanged. An absent one always fits. */
export function fits(kind: Kind, value: Json | undefined): boolean {
  if (value === undefined || value === null || isExpression(value)) return true;
  switch (kind.type) {
    case "text":
    case "pipeline":
    case "code":
    case "file":
      return typeof value === "string";
    case "scalar":
      return typeof value !== "object";
    case "priority":
      return typeof value === "string" || Number.isInteger(value);
    case "number":
      return typeof value === "number" && (!kind.integer || Number.isInteger(value));
    case "boolean":
      return typeof value === "boolean";
    case "choice":
      return kind.options.some((option) => same(option, value));
    case "list":
      return Array.isArray(value) && value.every((one: Json) => fits(kind.item, one));
    case "map":
      return isMapping(value) && Object.values(value).every((one) => fits(kind.value, one));
    case "object":
      return isMapping(value) && Object.entries(value).every(([name, one]) => memberFits(kind.fields, name, one));
    case "variants":
      return kind.variants.some((variant) => fits(variant.kind, value));
    case "yaml":
      return true;
  }
}

function memberFits(fields: readonly Field[], name: string, value: Json): boolean {
  const field = fields.find((one) => one.name === name);
  return field !== undefined && fits(field.kind, value);
}

/** The notation of a value: the first that fits; without a value, the first of all. */
export function variantOf(variants: readonly Variant[], value: Json | undefined): Variant | undefined {
  return variants.find((variant) => fits(variant.kind, value)) ?? variants[0];
}

/** The arguments that a template with these fields accepts, and the names of the others. */
export function carryOver(given: JsonObject, fields: readonly Field[]): { kept: JsonObject; left: string[] } {
  const entries = Object.entries(given);
  const keeps = ([name, value]: [string, Json]) => memberFits(fields, name, value);
  return { kept: Object.fromEntries(entries.filter(keeps)), left: entries.filter((entry) => !keeps(entry)).map(([name]) => name) };
}
