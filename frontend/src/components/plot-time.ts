//! Labels of a time axis, in the reader's language and time zone, with 24 hours.

const DAY = 86_400;

/** The labels of the ticks of a time axis; times and the increment are in seconds. The day is below the first time of each day. */
export function timeLabels(ticks: readonly number[], increment: number, language: string): string[] {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const made = new Intl.DateTimeFormat(language, { hourCycle: "h23", ...options });
    return (tick: number) => made.format(tick * 1000);
  };
  const year = format({ year: "numeric" });
  const day = format({ month: "short", day: "numeric" });
  const clock = format({ hour: "2-digit", minute: "2-digit", ...(increment < 60 ? { second: "2-digit" } : {}) });
  const [above, below] = increment < DAY ? [clock, day] : [day, year];
  return ticks.map((tick, at) => {
    const before = ticks[at - 1];
    const group = below(tick);
    return before !== undefined && below(before) === group ? above(tick) : `${above(tick)}\n${group}`;
  });
}
