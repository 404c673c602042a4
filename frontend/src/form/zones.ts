//! Time zones to choose from, by their IANA names. Pure but for the browser's own zone.

/** The zone of a schedule that names none. */
export const UTC = "UTC";

/** The zone of this browser. */
export function browserZone(): string {
  // Some browsers do not know it.
  return Intl.DateTimeFormat().resolvedOptions().timeZone || UTC;
}

/** All zones: the browser's, UTC, and the others by name. */
export function zonesFrom(own: string, known: readonly string[] = Intl.supportedValuesOf("timeZone")): string[] {
  return [...new Set([own, UTC, ...known])];
}
