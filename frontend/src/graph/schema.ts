//! JSON Schema traversal. Pure.

/** The part of JSON Schema that the editor uses. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  /** Hints for forms; `zh` has the Chinese title and description. */
  "x-form"?: { zh?: { title?: string; help?: string } };
}

/** A schema with resolved references, as its list of alternatives. */
export function alternatives(schema: Schema, root: Schema, depth = 0): Schema[] {
  if (depth > 12) return [];
  const { $ref, anyOf, oneOf, allOf, ...own } = schema;
  const inner: Schema[] = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])];
  const referred = $ref?.startsWith("#/$defs/") ? root.$defs?.[$ref.slice("#/$defs/".length)] : undefined;
  if (referred) inner.push(referred);
  const found = inner.flatMap((one) => alternatives(one, root, depth + 1));
  // Keywords beside a reference (a description) apply to all its targets.
  if (found.length > 0) return found.map((one) => ({ ...one, ...(own.description ? { description: own.description } : {}) }));
  return own.type === "null" ? [] : [own];
}

/** The schemas at a path. */
export function at(schema: Schema, path: (string | number)[], root: Schema = schema): Schema[] {
  let level = alternatives(schema, root);
  for (const part of path) {
    level = level.flatMap((one) => {
      const next = typeof part === "number" ? one.items : property(one, part);
      return next ? alternatives(next, root) : [];
    });
  }
  return level;
}

function property(schema: Schema, name: string): Schema | undefined {
  const own = schema.properties?.[name];
  if (own) return own;
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** A readable type: `integer`, `list of string`, ... */
export function typeOf(schemas: Schema[]): string {
  const words = schemas.flatMap((one) => {
    if (one.type === "array") return [one.items?.type ? `${String(one.items.type)}[]` : "list"];
    if (one.enum) return one.enum.map(word);
    return one.type === undefined ? [] : [one.type].flat().filter((word) => word !== "null");
  });
  return [...new Set(words)].slice(0, 6).join(" | ");
}

/** The allowed values, if they are finite. */
export function choices(schemas: Schema[]): string[] {
  const found = schemas.flatMap((one) => {
    if (one.enum) return one.enum.map(word);
    if (one.const !== undefined) return [word(one.const)];
    return one.type === "boolean" ? ["true", "false"] : [];
  });
  return [...new Set(found)];
}

function word(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
