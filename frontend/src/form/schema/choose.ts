//! Alternative arguments: `oneOf` and `anyOf` over `required`. Pure.

import type { JsonObject } from "../../graph/document";
import type { ParameterSchema } from "./read";

/** Sets of arguments, of which exactly one (`oneOf`) or at least one (`anyOf`) is required. */
export interface Choice {
  readonly exactly: boolean;
  readonly ways: readonly (readonly string[])[];
}

/** The choice that a schema requires among its arguments; null if there is none. */
export function choiceOf(schema: ParameterSchema): Choice | null {
  const alternatives = schema.oneOf ?? schema.anyOf;
  const ways = alternatives?.map((one) => one.required ?? []) ?? [];
  if (ways.length < 2 || ways.some((way) => way.length === 0)) return null;
  return { exactly: schema.oneOf !== undefined, ways };
}

/** The alternative that the arguments use: the first complete one, else the first partial one; -1 if none. */
export function wayOf(choice: Choice, given: JsonObject): number {
  const isGiven = (name: string) => given[name] !== undefined && given[name] !== null;
  const whole = choice.ways.findIndex((way) => way.every(isGiven));
  return whole >= 0 ? whole : choice.ways.findIndex((way) => way.some(isGiven));
}

/** The arguments that only other alternatives have. */
export function foreign(choice: Choice, way: number): string[] {
  const own = new Set(choice.ways[way] ?? []);
  return [...new Set(choice.ways.flat())].filter((name) => !own.has(name));
}
