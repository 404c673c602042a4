//! The kinds of form fields.

import type { Json } from "../../graph/document";

/** How a value is edited. */
export type Kind =
  /** Text; `long` means several lines. */
  | { type: "text"; long: boolean }
  /** The name of a pipeline. */
  | { type: "pipeline" }
  /** A program: text of many lines. */
  | { type: "code" }
  /** A file, by its path. */
  | { type: "file" }
  /** Text, a number, or a boolean, like the items of a command. */
  | { type: "scalar" }
  /** An integer from -1000 to 1000, or the name of a priority class. */
  | { type: "priority" }
  | { type: "number"; integer: boolean; minimum?: number; maximum?: number }
  | { type: "boolean" }
  | { type: "choice"; options: readonly Json[] }
  | { type: "list"; item: Kind; placeholder: string }
  | { type: "map"; value: Kind }
  | { type: "object"; fields: readonly Field[] }
  /** One of several notations. */
  | { type: "variants"; variants: readonly Variant[] }
  /** Everything else is edited as YAML. */
  | { type: "yaml" };

/** One notation of a value. `name` is one of `variantNames`, or a title in the schema. */
export interface Variant {
  readonly name: string;
  readonly kind: Kind;
}

/** One argument, or one member of a nested object. */
export interface Field {
  readonly name: string;
  readonly title: string;
  readonly help: string;
  readonly required: boolean;
  /** The default; undefined if there is none, null if it is explicitly nothing. */
  readonly default: Json | undefined;
  readonly placeholder: string;
  /** The heading of its group; empty for none. */
  readonly group: string;
  readonly kind: Kind;
}
