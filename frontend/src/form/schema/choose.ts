//! Arguments of which one must be given: `oneOf` and `anyOf` over `required`. Pure.

import type { JsonObject } from "../../graph/document";
import type { ParameterSchema } from "./read";

/** Sets of arguments, and whether exactly one of them must be given (`oneOf`) or at least one (`anyOf`). */
export interface Choice {
  readonly exactly: boolean;
  readonly ways: readonly (readonly string[])[];
}

/** The choice that a schema asks for among its arguments; null when it asks for none. */
export function choiceOf(schema: ParameterSchema): Choice | null {
  const alternatives = schema.oneOf ?? schema.anyOf;
  const ways = alternatives?.map((one) => one.required ?? []) ?? [];
  if (ways.length < 2 || ways.some((way) => way.length === 0)) return null;
  return { exactly: schema.oneOf !== undefined, ways };
}

/** The way that the arguments take: the first that is given, else the first that is begun; -1 when none is. */
export function wayOf(choice: Choice, given: JsonObject): number {
  const isGiven = (name: string) => given[name] !== undefined && given[name] !== null;
  const whole = choice.ways.findIndex((way) => way.every(isGiven));
  return whole >= 0 ? whole : choice.ways.findIndex((way) => way.some(isGiven));
}

/** The arguments that only other ways have. */
export function foreign(choice: Choice, way: number): string[] {
  const own = new Set(choice.ways[way] ?? []);
  return [...new Set(choice.ways.flat())].filter((name) => !own.has(name));
}
