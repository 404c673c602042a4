//! Keys that were pressed before the field for which they are meant was there.

/** The text of a field after these keys. */
export function textOf(keys: readonly string[]): string {
  return keys.reduce((text, key) => (key === "Backspace" ? text.slice(0, -1) : key.length === 1 ? text + key : text), "");
}
