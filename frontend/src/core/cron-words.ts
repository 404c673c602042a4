//! Says a cron expression in words: "At 02:30 on weekdays". Pure.

import { isCron, readCron, type Cron, type CronFault, type Days, type Weekdays } from "./cron";

/** `t` of texts.ts, and its language. */
export interface Tongue {
  readonly t: (key: string, values?: Record<string, string | number>) => string;
  readonly language: "en" | "zh";
}

/** Up to this many times of day, minutes or days are listed one by one. */
const LISTED = 6;
/** Up to this many ranges of hours are given with their times. */
const RANGES = 3;
/** 2023-01-01 was a Sunday. */
const SUNDAY = Date.UTC(2023, 0, 1);
const DAY_MS = 86_400_000;

/** The expression in words; null if it is invalid. */
export function cronWords(expression: string, tongue: Tongue): string | null {
  const cron = readCron(expression);
  if (!isCron(cron)) return null;
  const { text, always } = timeWords(cron, tongue);
  const sentence = tongue.t("cron.sentence", { time: text, days: dayWords(cron, always, tongue) });
  return sentence.replace(/ +/g, " ").trim();
}

/** What is wrong with an expression; null if it is valid. */
export function cronFault(expression: string, tongue: Tongue): string | null {
  const read = readCron(expression);
  return isCron(read) ? null : faultWords(read, tongue);
}

function faultWords(fault: CronFault, { t }: Tongue): string {
  if (fault.kind === "nickname") return t("cron.wrong-nickname");
  if (fault.kind === "count") return t("cron.wrong-count", { n: fault.count });
  const names = { minute: t("cron.field-minute"), hour: t("cron.field-hour"), day: t("cron.field-day"), month: t("cron.field-month"), weekday: t("cron.field-weekday") };
  return t("cron.wrong-field", { field: names[fault.field], text: fault.text, min: fault.min, max: fault.max });
}

/** The times of day. `always` if they go on through the whole day, so that "every day" adds nothing. */
function timeWords({ minutes, hours }: Cron, tongue: Tongue): { text: string; always: boolean } {
  const { t } = tongue;
  const [minute = 0, second] = minutes;
  const every = cycleOf(hours, 24);
  if (second === undefined && every === 1 && minute === 0) return { text: t("cron.hour"), always: true };
  if (every === 1) return { text: cycleOf(minutes, 60) === null ? t("cron.each-hour", { minutes: minuteWords(minutes, tongue) }) : minuteWords(minutes, tongue), always: true };
  if (second === undefined && every !== null && hours.length > 2) {
    return { text: minute === 0 ? t("cron.hours-step", { n: every }) : t("cron.hours-step-at", { n: every, minute }), always: true };
  }
  return { text: partOfDay(minutes, hours, tongue), always: false };
}

function partOfDay(minutes: readonly number[], hours: readonly number[], tongue: Tongue): string {
  const { t } = tongue;
  const [minute = 0] = minutes;
  if (minutes.length * hours.length <= LISTED) {
    return t("cron.at", { times: listed(hours.flatMap((hour) => minutes.map((at) => clock(hour, at))), tongue) });
  }
  const step = stepOf(hours);
  if (minutes.length === 1 && step !== null) {
    const bounds = { from: clock(hours[0], minute), to: clock(hours.at(-1), minute) };
    return step === 1 ? t("cron.hour-between", bounds) : t("cron.hours-between", { n: step, ...bounds });
  }
  return t("cron.within", { minutes: minuteWords(minutes, tongue), hours: hourWords(hours, tongue) });
}

function minuteWords(minutes: readonly number[], tongue: Tongue): string {
  const { t } = tongue;
  const every = cycleOf(minutes, 60);
  if (every === 1) return t("cron.minute");
  if (every !== null) return t("cron.minutes-step", { n: every });
  const step = stepOf(minutes);
  const bounds = { from: minutes[0] ?? 0, to: minutes.at(-1) ?? 0 };
  if (step === 1 && minutes.length > LISTED) return t("cron.minute-between", bounds);
  if (step !== null && minutes.length > LISTED) return t("cron.minutes-between", { n: step, ...bounds });
  return t("cron.at-minutes", { n: minutes.length, minutes: listed(minutes.map(String), tongue) });
}

function hourWords(hours: readonly number[], tongue: Tongue): string {
  const { t } = tongue;
  const parts = runsOf(hours);
  if (parts.length > RANGES) return t("cron.in-hours", { hours: listed(hours.map(two), tongue) });
  return listed(parts.map(([from, to]) => t("cron.window", { from: clock(from, 0), to: clock(to, 59) })), tongue);
}

/** The days, with their months. */
function dayWords(cron: Cron, always: boolean, tongue: Tongue): string {
  const { t } = tongue;
  const months = monthWords(cron.months, tongue);
  const one = cron.days && daysOfMonth(cron.days, cron.months, months.of, tongue);
  const other = cron.weekdays && daysOfWeek(cron.weekdays, months, tongue);
  if (one !== null && other !== null) return cron.both ? t("cron.both", { one, other }) : t("cron.either", { one, other });
  return one ?? other ?? (always ? months.in : t("cron.every-day", { in: months.in }));
}

/** The months as a part of other phrases: `in January`, and `of January` or `of the month`. */
function monthWords(months: readonly number[], tongue: Tongue): { in: string; of: string } {
  const { t } = tongue;
  if (months.length === 12) return { in: "", of: t("cron.of-month") };
  if (stepOf(months) === 1) {
    const bounds = { from: monthName(months[0], tongue), to: monthName(months.at(-1), tongue) };
    return { in: t("cron.in-month-span", bounds), of: t("cron.of-month-span", bounds) };
  }
  const names = { months: listed(months.map((month) => monthName(month, tongue)), tongue) };
  return { in: t("cron.in-months", names), of: t("cron.of-months", names) };
}

function daysOfMonth({ numbers, nearest, last }: Days, months: readonly number[], of: string, tongue: Tongue): string {
  const { t } = tongue;
  const [from = 0, to = 0, step] = [numbers[0], numbers.at(-1), stepOf(numbers)];
  const days = listed(runsOf(numbers).map(([first, end]) => (first === end ? t("cron.day", { n: first }) : t("cron.day-span", { from: first, to: end }))), tongue);
  const plain = numbers.length === 0 ? []
    : step !== null && step > 1 && numbers.length > LISTED ? [t("cron.days-step", { n: step, from, to, of })]
    : months.length === 1 ? [t("cron.date", { month: monthName(months[0], tongue), days })]
    : [t("cron.days", { n: numbers.length, days, of })];
  const near = nearest.map((day) => t("cron.nearest", { day, of }));
  const end = last === "day" ? [t("cron.last-day", { of })] : last === "weekday" ? [t("cron.last-weekday", { of })] : [];
  return listed([...plain, ...near, ...end], tongue);
}

function daysOfWeek({ numbers, nth }: Weekdays, months: { in: string; of: string }, tongue: Tongue): string {
  const { t } = tongue;
  const which = { 1: t("cron.nth-1"), 2: t("cron.nth-2"), 3: t("cron.nth-3"), 4: t("cron.nth-4"), 5: t("cron.nth-5"), last: t("cron.nth-last") };
  const exact = nth.map((one) => t("cron.nth", { nth: which[one.nth as keyof typeof which], day: weekdayName(one.weekday, tongue), of: months.of }));
  return listed([...(numbers.length > 0 ? [weekdayWords(numbers, months.in, tongue)] : []), ...exact], tongue);
}

function weekdayWords(numbers: readonly number[], months: string, tongue: Tongue): string {
  const { t } = tongue;
  // A week begins on Monday here, so that the weekend is one range.
  const week = numbers.map((day) => day || 7).sort((one, other) => one - other);
  const [from = 0, to = 0] = [week[0], week.at(-1)];
  if (week.join() === "1,2,3,4,5") return t("cron.weekdays", { in: months });
  if (week.join() === "6,7") return t("cron.weekends", { in: months });
  if (stepOf(week) === 1) return t("cron.weekday-span", { from: weekdayName(from, tongue), to: weekdayName(to, tongue), in: months });
  return t("cron.on-weekdays", { days: listed(week.map((day) => t("cron.weekday", { day: weekdayName(day, tongue) })), tongue), in: months });
}

/** The difference of at least three evenly spaced numbers; null for any other numbers. */
function stepOf(numbers: readonly number[]): number | null {
  const [first = 0, second = 0] = numbers;
  const step = second - first;
  return numbers.length > 2 && numbers.every((number, at) => number === first + at * step) ? step : null;
}

/** The step of numbers that go through a whole hour or day from its beginning; null for any other numbers. */
function cycleOf(numbers: readonly number[], length: number): number | null {
  const [first, second = 0] = numbers;
  return first === 0 && numbers.length * second === length && numbers.every((number, at) => number === at * second) ? second : null;
}

/** Consecutive numbers, from the first to the last of each range. */
function runsOf(numbers: readonly number[]): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}

// Chinese has no word before the last one, which would need spaces between numbers.
function listed(words: readonly string[], { language }: Tongue): string {
  return language === "zh" ? words.join("、") : new Intl.ListFormat(language).format(words);
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

function clock(hour: number | undefined, minute: number): string {
  return `${two(hour ?? 0)}:${two(minute)}`;
}

function weekdayName(day: number, { language }: Tongue): string {
  return new Intl.DateTimeFormat(language, { weekday: language === "zh" ? "short" : "long", timeZone: "UTC" }).format(SUNDAY + (day % 7) * DAY_MS);
}

function monthName(month: number | undefined, { language }: Tongue): string {
  return new Intl.DateTimeFormat(language, { month: language === "zh" ? "short" : "long", timeZone: "UTC" }).format(Date.UTC(2023, (month ?? 1) - 1, 1));
}
