//! Secrets and volumes of a task in the document's notation: a name, or a mapping with details. Pure.

import type { Json } from "../../graph/document";
import { shown } from "../draft";
import { isMapping } from "../path";

/** How a task gets a secret: in the default variable, in a custom variable, or in a file. */
export type SecretWay = "variable" | "env" | "file";

/** A secret of a task. `value` is the variable or the file, empty for the default variable. */
export interface SecretUse {
  readonly name: string;
  readonly way: SecretWay;
  readonly value: string;
}

export function readSecret(value: Json): SecretUse {
  if (!isMapping(value)) return { name: shown(value), way: "variable", value: "" };
  const name = shown(value["name"]);
  if (value["file"] !== undefined) return { name, way: "file", value: shown(value["file"]) };
  return value["env"] === undefined ? { name, way: "variable", value: "" } : { name, way: "env", value: shown(value["env"]) };
}

/** Formats one, as short as possible. */
export function writeSecret({ name, way, value }: SecretUse): Json {
  return way === "variable" ? name : { name, [way]: value };
}

/** The default variable of a secret. */
export function usualVariable(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}

export interface VolumeUse {
  readonly name: string;
  readonly mount: string;
  readonly readOnly: boolean;
}

export function readVolume(value: Json): VolumeUse {
  if (!isMapping(value)) return { name: shown(value), mount: "", readOnly: false };
  return { name: shown(value["name"]), mount: shown(value["mount"]), readOnly: value["read_only"] === true };
}

/** Formats one, as short as possible. */
export function writeVolume({ name, mount, readOnly }: VolumeUse): Json {
  if (mount === "" && !readOnly) return name;
  return { name, ...(mount === "" ? {} : { mount }), ...(readOnly ? { read_only: true } : {}) };
}
