//! Equality of values: the order of keys is ignored, the order of items is not.

/** Deep equality. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, at) => equal(one, b[at]));
  }
  const [left, right] = [present(a), present(b)];
  return left.length === right.length && left.every(([key, one]) => Object.hasOwn(b, key) && equal(one, (b as Record<string, unknown>)[key]));
}

function present(mapping: object): [string, unknown][] {
  return Object.entries(mapping).filter(([, value]) => value !== undefined);
}

/** A mapping: an object that is no list. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
