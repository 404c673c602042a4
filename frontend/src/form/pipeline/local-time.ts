//! Times of a schedule's dates, in its zone and in the browser's: `Mon 2026-03-30 06:00`.

/** A local time with its offset, `2026-03-30T06:00:00+02:00`. `exact` shows the offset, too. */
export function zoneTime(local: string, language: string, exact: boolean): string {
  const [day = "", rest = ""] = local.split("T");
  const [clock, seconds, offset] = [rest.slice(0, 5), rest.slice(5, 8), rest.slice(8)];
  const weekday = new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" }).format(new Date(`${day}T00:00:00Z`));
  return `${weekday} ${day} ${clock}${seconds === ":00" ? "" : seconds}${exact ? ` ${offset}` : ""}`;
}

/** A moment in the browser's zone. */
export function ownTime(moment: Date, language: string, exact: boolean): string {
  // The sign of the offset is that of the way to UTC.
  const minutes = -moment.getTimezoneOffset();
  const local = new Date(moment.getTime() + minutes * 60_000).toISOString().slice(0, 19);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const offset = `${minutes < 0 ? "-" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
  return zoneTime(local + offset, language, exact);
}

/** Whether the clock changes between the dates, so that one local time may stand for two moments. */
export function offsetsDiffer(dates: readonly { readonly local: string }[]): boolean {
  return new Set(dates.map(({ local }) => local.slice(19))).size > 1;
}
