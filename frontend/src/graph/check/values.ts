//! JSON Schema rules for one value: enums, bounds, lengths, patterns.

import type { Json } from "../document";
import { equal } from "../equal";
import { mistake, type Finding } from "../finding";
import type { Schema } from "../schema";

/** The part of JSON Schema that templates may use. */
export interface Rules extends Omit<Schema, "properties" | "items" | "additionalProperties" | "anyOf" | "oneOf" | "allOf"> {
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly items?: Rules | boolean;
  readonly additionalProperties?: Rules | boolean;
  readonly anyOf?: readonly Rules[];
  readonly oneOf?: readonly Rules[];
  readonly allOf?: readonly Rules[];
  readonly not?: Rules;
  readonly if?: Rules;
  readonly then?: Rules;
  readonly else?: Rules;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly format?: string;
}

/** A value in a message, truncated if long. */
export function describe(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** `enum` and `const`. */
export function fixed(rules: Rules, value: Json, path: string, findings: Finding[]): void {
  if (rules.enum && !rules.enum.some((choice) => equal(choice, value))) {
    findings.push(mistake("invalid_argument", path, /* text */ "graph.argument-choice", { found: describe(value), choices: rules.enum.slice(0, 20).map(describe).join(", ") }));
  }
  if (rules.const !== undefined && !equal(rules.const, value)) findings.push(mistake("invalid_argument", path, /* text */ "graph.argument-choice", { found: describe(value), choices: describe(rules.const) }));
}

/** Bounds of numbers, lengths, patterns, dates. */
export function bounds(rules: Rules, value: Json, path: string, findings: Finding[]): void {
  const say = (text: string, values: Record<string, string | number>) => { findings.push(mistake("invalid_argument", path, text, values)); };
  if (typeof value === "number") number(rules, value, say);
  else if (typeof value === "string") {
    size([rules.minLength, rules.maxLength], Array.from(value).length, [/* text */ "graph.argument-short", /* text */ "graph.argument-long"], say);
    if (rules.pattern !== undefined && !matches(rules.pattern, value)) say(/* text */ "graph.argument-pattern", { pattern: rules.pattern });
    if (rules.format === "date" && !isDate(value)) say(/* text */ "graph.argument-date", { found: value });
  } else if (Array.isArray(value)) size([rules.minItems, rules.maxItems], value.length, [/* text */ "graph.argument-few", /* text */ "graph.argument-many"], say);
  else if (value !== null && typeof value === "object") size([rules.minProperties, rules.maxProperties], Object.keys(value).length, [/* text */ "graph.argument-few", /* text */ "graph.argument-many"], say);
}

type Say = (text: string, values: Record<string, string | number>) => void;

function number(rules: Rules, value: number, say: Say): void {
  const found = value;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rules;
  if (minimum !== undefined && value < minimum) say(/* text */ "graph.argument-least", { found, bound: minimum });
  if (maximum !== undefined && value > maximum) say(/* text */ "graph.argument-most", { found, bound: maximum });
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) say(/* text */ "graph.argument-more", { found, bound: exclusiveMinimum });
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) say(/* text */ "graph.argument-less", { found, bound: exclusiveMaximum });
  if (multipleOf !== undefined && Math.abs(value / multipleOf - Math.round(value / multipleOf)) >= 1e-9) say(/* text */ "graph.argument-multiple", { found, bound: multipleOf });
}

function size([least, most]: readonly [number | undefined, number | undefined], found: number, [few, many]: readonly [string, string], say: Say): void {
  if (least !== undefined && found < least) say(few, { found, bound: least });
  if (most !== undefined && found > most) say(many, { found, bound: most });
}

/** A pattern that the browser cannot compile is left to the server. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

function isDate(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
