//! A syntax tree with the position of each value. Values are interpreted like on the server.

import type { Json } from "../document";

/**
 * Common fields of values. `from` and `to` are the value's offsets, without anchor, tag and trailing text.
 */
interface Value {
  readonly from: number;
  readonly to: number;
  readonly plain: Json;
  /** Its anchor's name. */
  readonly anchor?: string | undefined;
  /** Whether it is or contains an alias. */
  readonly aliased: boolean;
}

/** Text, number, boolean, null. */
export interface ScalarTree extends Value {
  readonly kind: "scalar";
  readonly style: "plain" | "single" | "double" | "block";
}

/** `*name`. */
export interface AliasTree extends Value {
  readonly kind: "alias";
  readonly target: Tree;
}

/** One key of a mapping. */
export interface PairTree {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly value: Tree;
}

/** A mapping; `merged` are its `<<` pairs. */
export interface MapTree extends Value {
  readonly kind: "map";
  readonly flow: boolean;
  readonly pairs: readonly PairTree[];
  readonly merged: readonly PairTree[];
}

export interface ListTree extends Value {
  readonly kind: "list";
  readonly flow: boolean;
  readonly items: readonly Tree[];
}

export type Tree = ScalarTree | AliasTree | MapTree | ListTree;

/** A mapping's value: its own keys, then the merged ones. Of a duplicate key, the first wins. */
export function plainMap(pairs: readonly PairTree[], merged: readonly PairTree[]): Json {
  const value = new Map<string, Json>();
  for (const { key, value: inner } of pairs) if (!value.has(key)) value.set(key, inner.plain);
  for (const [key, inner] of mergedKeys(merged)) if (!value.has(key)) value.set(key, inner);
  return Object.fromEntries(value);
}

/** The keys from `<<`; earlier sources win. */
export function mergedKeys(merged: readonly PairTree[], plainOf: (tree: Tree) => Json = (tree) => tree.plain): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const { value } of merged) {
    const target = value.kind === "alias" ? value.target : value;
    const sources = target.kind === "list" ? target.items : [value];
    for (const source of sources) {
      for (const [key, inner] of Object.entries(plainOf(source) ?? {})) if (!found.has(key)) found.set(key, inner as Json);
    }
  }
  return found;
}
