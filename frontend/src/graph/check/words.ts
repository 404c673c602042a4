//! The forms of names.

import { mistake, pointer, type Finding } from "../finding";
import { isMapping } from "../equal";

/** Whether a text can name an environment variable or a parameter. */
export function isVariable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

/** A text as a name of a pipeline or task: lower-case letters, digits and `-`; undefined when nothing of it can be one. */
export function labelOf(text: string): string | undefined {
  const label = Array.from(text).slice(0, 63).map((sign) => (/[a-z0-9]/i.test(sign) ? sign.toLowerCase() : "-")).join("").replace(/^-+|-+$/g, "");
  return label === "" ? undefined : label;
}

/** Whether a text is a name of a pipeline or task. */
export function isLabelText(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

/** Variables with names that are none, or that are the platform's. */
export function reserved(prefix: string, env: unknown, findings: Finding[]): void {
  for (const name of isMapping(env) ? Object.keys(env) : []) {
    const path = `${prefix}/env${pointer([name])}`;
    if (!isVariable(name)) findings.push(mistake("invalid_name", path, /* text */ "graph.invalid-variable", { name }));
    else if (name.startsWith("CUBELOOM_")) findings.push(mistake("conflict", path, /* text */ "graph.reserved", { name }));
  }
}
