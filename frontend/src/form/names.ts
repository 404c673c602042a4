//! Names that the server accepts. Pure.

/** A DNS-1123 label: names of pipelines, tasks, secrets, volumes. */
export function isLabel(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

/** A name that expressions can use after a dot: names of parameters. */
export function isVariable(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);
}
