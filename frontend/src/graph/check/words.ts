//! The syntax of names.

import { mistake, pointer, type Finding } from "../finding";
import { isMapping } from "../equal";

/** Whether a text is a valid name of an environment variable or a parameter. */
export function isVariable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

/**
 * A text converted to a pipeline or task name: lower-case letters, digits and `-`; undefined if nothing
 * usable is left.
 */
export function labelOf(text: string): string | undefined {
  const label = Array.from(text).slice(0, 63).map((sign) => (/[a-z0-9]/i.test(sign) ? sign.toLowerCase() : "-")).join("").replace(/^-+|-+$/g, "");
  return label === "" ? undefined : label;
}

/** Whether a text is a valid name of a pipeline or task. */
export function isLabelText(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

/** Reports variables with invalid names, or with names reserved for the platform. */
export function reserved(prefix: string, env: unknown, findings: Finding[]): void {
  for (const name of isMapping(env) ? Object.keys(env) : []) {
    const path = `${prefix}/env${pointer([name])}`;
    if (!isVariable(name)) findings.push(mistake("invalid_name", path, /* text */ "graph.invalid-variable", { name }));
    else if (name.startsWith("CUBELOOM_")) findings.push(mistake("conflict", path, /* text */ "graph.reserved", { name }));
  }
}
