//! How many instances a `for_each` creates. Pure.

import type { Json } from "../../graph/document";
import { isMapping } from "../path";

/** The sources of items; a task without any has one instance. */
export const waysOfRepeating = ["list", "matrix", "from"] as const;

/** A source, or none. */
export type Way = (typeof waysOfRepeating)[number] | "none";

/** The number of instances; null if it is only known at run time, or if nothing is repeated. */
export function countOf(forEach: Json | undefined): number | null {
  if (!isMapping(forEach)) return null;
  const { list, matrix } = forEach;
  if (Array.isArray(list)) return list.length;
  if (!isMapping(matrix)) return null;
  const sizes = Object.values(matrix).map((values) => (Array.isArray(values) ? values.length : null));
  if (sizes.length === 0 || sizes.includes(null)) return null;
  return sizes.reduce<number>((product, size) => product * (size ?? 0), 1);
}
