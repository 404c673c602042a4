//! What a field of a form can be.

import type { Json } from "../../graph/document";

/** How a value is edited. */
export type Kind =
  /** Text; `long` is more than one line. */
  | { type: "text"; long: boolean }
  /** The name of a pipeline. */
  | { type: "pipeline" }
  /** A program: text of many lines. */
  | { type: "code" }
  /** A file, by its path. */
  | { type: "file" }
  /** Text, a number, or true or false, as the elements of a command are. */
  | { type: "scalar" }
  /** A whole number from -1000 to 1000, or the name of a priority class. */
  | { type: "priority" }
  | { type: "number"; integer: boolean; minimum?: number; maximum?: number }
  | { type: "boolean" }
  | { type: "choice"; options: readonly Json[] }
  | { type: "list"; item: Kind; placeholder: string }
  | { type: "map"; value: Kind }
  | { type: "object"; fields: readonly Field[] }
  /** One of several ways to write it. */
  | { type: "variants"; variants: readonly Variant[] }
  /** Whatever has no better field is written as YAML. */
  | { type: "yaml" };

/** One way to write a value. `name` is one of `variantNames` or a title of the schema's own. */
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
  /** What counts when it is not written; undefined when there is none, null when there is nothing. */
  readonly default: Json | undefined;
  readonly placeholder: string;
  /** The heading that it stands under; empty for none. */
  readonly group: string;
  readonly kind: Kind;
}
