//! Checks a task's arguments against its template's JSON Schema. Arguments with expressions count as valid:
//! their values are not known yet.

import type { Json, JsonObject } from "../document";
import { equal, isMapping } from "../equal";
import { hasExpression } from "../expression";
import { mistake, pointer, type Finding } from "../finding";
import { listing, nearest } from "../nearest";
import type { Schema } from "../schema";
import { bounds, describe, fixed, type Rules } from "./values";

/** Checks the arguments; `path` is their JSON pointer. */
export function checkArguments(schema: Schema, given: JsonObject, path: string, findings: Finding[]): void {
  const rules = schema as Rules;
  const later = new Set(Object.keys(given).filter((name) => holdsExpression(given[name] ?? null)));
  const known: Record<string, Json> = {};
  for (const [name, property] of Object.entries(rules.properties ?? {})) if (property.default !== undefined && !Object.hasOwn(given, name)) known[name] = property.default as Json;
  for (const [name, value] of Object.entries(given)) if (!later.has(name)) known[name] = inWords(rules.properties?.[name], value, false);
  checkMapping(rules, known, later, path, findings);
  if (later.size === 0) combined(rules, known, path, findings);
}

/** Numbers and booleans in lists are converted to text where text is expected, like on the server. */
function inWords(rules: Rules | boolean | undefined, value: Json, inList: boolean): Json {
  if (rules === undefined || typeof rules === "boolean") return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => inWords(rules.items, item, true));
  if (isMapping(value)) {
    const { properties = {}, additionalProperties: others } = rules;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inWords(Object.hasOwn(properties, name) ? properties[name] : others, one, false)]));
  }
  const types = [rules.type ?? []].flat();
  const takesText = types.includes("string") && !types.some((type) => ["number", "integer", "boolean"].includes(type));
  return inList && takesText && (typeof value === "number" || typeof value === "boolean") ? String(value) : value;
}

/** Whether a string in a value contains an expression. */
export function holdsExpression(value: Json): boolean {
  if (typeof value === "string") return hasExpression(value);
  return typeof value === "object" && value !== null && Object.values(value).some((one) => holdsExpression(one));
}

/** Checks one value against all rules. */
function checkValue(rules: Rules | boolean, value: Json, path: string, findings: Finding[]): void {
  if (rules === true) return;
  if (rules === false) {
    findings.push(mistake("invalid_argument", path, /* text */ "graph.argument-nothing"));
    return;
  }
  const types = rules.type === undefined ? [] : [rules.type].flat();
  if (types.length > 0 && !types.some((type) => hasType(type, value))) {
    findings.push(mistake("invalid_argument", path, EXPECTED[types.length === 1 ? (types[0] ?? "") : ""] ?? /* text */ "graph.argument-types", { types: types.join(", "), found: describe(value) }));
    return;
  }
  fixed(rules, value, path, findings);
  bounds(rules, value, path, findings);
  if (Array.isArray(value)) checkList(rules, value as readonly Json[], path, findings);
  else if (isMapping(value)) checkMapping(rules, value, new Set(), path, findings);
  combined(rules, value, path, findings);
}

const EXPECTED: Readonly<Record<string, string>> = {
  null: /* text */ "graph.argument-null",
  boolean: /* text */ "graph.argument-boolean",
  integer: /* text */ "graph.argument-integer",
  number: /* text */ "graph.argument-number",
  string: /* text */ "graph.argument-string",
  array: /* text */ "graph.argument-array",
  object: /* text */ "graph.argument-object",
};

function hasType(type: string, value: Json): boolean {
  if (type === "null") return value === null;
  if (type === "integer") return typeof value === "number" && Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isMapping(value);
  return typeof value === type;
}

function checkList(rules: Rules, items: readonly Json[], path: string, findings: Finding[]): void {
  const { items: inner } = rules;
  if (inner !== undefined) items.forEach((item, at) => { checkValue(inner, item, `${path}/${at}`, findings); });
  const twice = rules.uniqueItems === true ? items.find((item, at) => items.findIndex((one) => equal(one, item)) !== at) : undefined;
  if (twice !== undefined) findings.push(mistake("invalid_argument", path, /* text */ "graph.argument-twice", { value: JSON.stringify(twice) }));
}

function checkMapping(rules: Rules, map: JsonObject, later: ReadonlySet<string>, path: string, findings: Finding[]): void {
  for (const name of rules.required ?? []) {
    if (!Object.hasOwn(map, name) && !later.has(name)) findings.push(mistake("invalid_argument", path, /* text */ "graph.argument-missing", { name }));
  }
  const { properties, additionalProperties: extra } = rules;
  const known = (name: string) => properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
  for (const [name, value] of Object.entries(map)) {
    const inner = known(name) ?? (extra === false ? undefined : (extra ?? true));
    if (inner === undefined) findings.push(unknown(name, properties, path));
    else checkValue(inner, value, path + pointer([name]), findings);
  }
  for (const name of later) if (extra === false && known(name) === undefined) findings.push(unknown(name, properties, path));
}

function unknown(name: string, properties: Readonly<Record<string, Rules>> = {}, path: string): Finding {
  const near = nearest(name, Object.keys(properties));
  return near === undefined
    ? mistake("invalid_argument", path + pointer([name]), /* text */ "graph.argument-unknown", { name, known: listing(Object.keys(properties)) })
    : mistake("invalid_argument", path + pointer([name]), /* text */ "graph.argument-unknown-near", { name, near });
}

/** `allOf`, `anyOf`, `oneOf`, `not`, `if`. */
function combined(rules: Rules, value: Json, path: string, findings: Finding[]): void {
  const holds = (schema: Rules | boolean) => {
    const inner: Finding[] = [];
    checkValue(schema, value, path, inner);
    return inner.length === 0;
  };
  for (const schema of rules.allOf ?? []) checkValue(schema, value, path, findings);
  const say = (text: string, schemas: readonly Rules[]) => findings.push(mistake("invalid_argument", path, text, { alternatives: schemas.map(nameOf).join(", ") }));
  if (rules.anyOf && !rules.anyOf.some(holds)) say(/* text */ "graph.argument-any", rules.anyOf);
  const fitting = rules.oneOf?.filter(holds).length;
  if (rules.oneOf && fitting !== 1) say(fitting === 0 ? /* text */ "graph.argument-one" : /* text */ "graph.argument-only-one", rules.oneOf);
  if (rules.not && holds(rules.not)) say(/* text */ "graph.argument-not", [rules.not]);
  const branch = rules.if && (holds(rules.if) ? rules.then : rules.else);
  if (branch) checkValue(branch, value, path, findings);
}

/** An alternative's title, required keys, or type. */
function nameOf(schema: Rules): string {
  return schema.title ?? schema.required?.map((name) => `\`${name}\``).join(" + ") ?? [schema.type ?? JSON.stringify(schema)].flat().join(", ");
}
