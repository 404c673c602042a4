//! What another version of a template changes for a task. Pure.

import type { JsonObject } from "../../graph/document";
import { same } from "../path";
import { carryOver } from "./fits";
import type { Field } from "./kinds";

/** Arguments, by name. */
export interface SchemaChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** With another type, other bounds or another default. */
  readonly changed: readonly string[];
  /** Arguments of the task that the other version does not accept. */
  readonly refused: readonly string[];
  /** Required arguments of the other version that the task does not have. */
  readonly missing: readonly string[];
}

/** Compares the fields of two versions, for a task with some arguments. */
export function changeOf(before: readonly Field[], after: readonly Field[], given: JsonObject): SchemaChange {
  const [was, is] = [new Map(before.map((field) => [field.name, field])), new Map(after.map((field) => [field.name, field]))];
  const differs = ({ name, kind, default: usual, required }: Field) => {
    const old = was.get(name);
    return old !== undefined && !(same(old.kind, kind) && same(old.default, usual) && old.required === required);
  };
  return {
    added: after.filter(({ name }) => !was.has(name)).map(({ name }) => name),
    removed: before.filter(({ name }) => !is.has(name)).map(({ name }) => name),
    changed: after.filter(differs).map(({ name }) => name),
    refused: carryOver(given, after).left,
    missing: after.filter(({ name, required }) => required && given[name] === undefined).map(({ name }) => name),
  };
}
