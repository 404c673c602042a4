//! How a task names its template.

/** A reference `name@1.0.0` in its two parts; the version is empty when it names none. */
export function reference(template: string): { name: string; version: string } {
  const [name = "", version = ""] = template.split("@");
  return { name, version };
}
