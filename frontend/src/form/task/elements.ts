//! How many instances a `for_each` makes. Pure.

import type { Json } from "../../graph/document";
import { isMapping } from "../path";

/** The ways of saying the elements; a task without has one instance. */
export const waysOfRepeating = ["list", "matrix", "from"] as const;

/** One of them, or none. */
export type Way = (typeof waysOfRepeating)[number] | "none";

/** The number of instances; null when it is only known in a run, or when nothing is repeated. */
export function countOf(forEach: Json | undefined): number | null {
  if (!isMapping(forEach)) return null;
  const { list, matrix } = forEach;
  if (Array.isArray(list)) return list.length;
  if (!isMapping(matrix)) return null;
  const sizes = Object.values(matrix).map((values) => (Array.isArray(values) ? values.length : null));
  if (sizes.length === 0 || sizes.includes(null)) return null;
  return sizes.reduce<number>((product, size) => product * (size ?? 0), 1);
}
