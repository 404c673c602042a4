//! Secrets and volumes of a task as the document writes them: a name, or a mapping that says how. Pure.

import type { Json } from "../../graph/document";
import { shown } from "../draft";
import { isMapping } from "../path";

/** How a task gets a secret: in a variable, in one of another name, or in a file. */
export type SecretWay = "variable" | "env" | "file";

/** A secret of a task. `value` is the variable or the file, empty for the usual variable. */
export interface SecretUse {
  readonly name: string;
  readonly way: SecretWay;
  readonly value: string;
}

/** Reads one. */
export function readSecret(value: Json): SecretUse {
  if (!isMapping(value)) return { name: shown(value), way: "variable", value: "" };
  const name = shown(value["name"]);
  if (value["file"] !== undefined) return { name, way: "file", value: shown(value["file"]) };
  return value["env"] === undefined ? { name, way: "variable", value: "" } : { name, way: "env", value: shown(value["env"]) };
}

/** Writes one, as short as it can be. */
export function writeSecret({ name, way, value }: SecretUse): Json {
  return way === "variable" ? name : { name, [way]: value };
}

/** The variable that a secret is in when nothing else is said. */
export function usualVariable(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}

/** A volume of a task. */
export interface VolumeUse {
  readonly name: string;
  readonly mount: string;
  readonly readOnly: boolean;
}

/** Reads one. */
export function readVolume(value: Json): VolumeUse {
  if (!isMapping(value)) return { name: shown(value), mount: "", readOnly: false };
  return { name: shown(value["name"]), mount: shown(value["mount"]), readOnly: value["read_only"] === true };
}

/** Writes one, as short as it can be. */
export function writeVolume({ name, mount, readOnly }: VolumeUse): Json {
  if (mount === "" && !readOnly) return name;
  return { name, ...(mount === "" ? {} : { mount }), ...(readOnly ? { read_only: true } : {}) };
}
