//! The types of parameters, and the controls of their values. Pure.

import type { JsonObject } from "../../graph/document";
import { shown } from "../draft";
import type { Kind } from "../schema/kinds";

export const TYPES = ["string", "integer", "number", "boolean", "date", "list", "object"] as const;

/** The field for one value of a type. */
export function elementKind(type: string): Kind {
  if (type === "integer" || type === "number") return { type: "number", integer: type === "integer" };
  if (type === "boolean") return { type: "boolean" };
  return type === "list" || type === "object" ? { type: "yaml" } : { type: "text", long: false };
}

/** The field for a parameter's default, within its type, bounds and choices. */
export function defaultKind(parameter: JsonObject): Kind {
  const { enum: choices, minimum, maximum, type } = parameter;
  if (Array.isArray(choices) && choices.length > 0) return { type: "choice", options: choices };
  const kind = elementKind(shown(type));
  if (kind.type !== "number") return kind;
  return { ...kind, ...(typeof minimum === "number" ? { minimum } : {}), ...(typeof maximum === "number" ? { maximum } : {}) };
}
