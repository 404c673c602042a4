// Times before log lines.

/** Formats of times: none, clock time, or since the attempt began. */
export const TIMES = ["none", "clock", "since"] as const;
export type Times = (typeof TIMES)[number];

const two = (value: number): string => String(value).padStart(2, "0");

/** `14:03:22.1` in the user's time zone, or `+0:12.3`, `+1:02:03.4`; both have nearly constant width. */
export function shown(at: number, times: Exclude<Times, "none">, begin: number): string {
  if (times === "clock") {
    const moment = new Date(at);
    const tenth = Math.floor(moment.getMilliseconds() / 100);
    return `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}.${tenth}`;
  }
  const tenths = Math.max(0, Math.floor((at - begin) / 100));
  const [hours, minutes, seconds] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60, Math.floor(tenths / 10) % 60];
  const long = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `+${long}:${two(seconds)}.${tenths % 10}`.padStart(10);
}

/** The width of a time in characters, including the space after it. */
export const WIDTH = 11;
