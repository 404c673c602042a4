//! A task's reference to its template.

/** The two parts of a reference `name@1.0.0`; the version is empty if absent. */
export function reference(template: string): { name: string; version: string } {
  const [name = "", version = ""] = template.split("@");
  return { name, version };
}
