//! Reads a cron expression by the rules of the server. Pure.

/** The fields, in the order of an expression. */
const FIELDS = ["minute", "hour", "day", "month", "weekday"] as const;
export type CronField = (typeof FIELDS)[number];

/** The least and the largest number of each field. Sunday is 0 and 7. */
const BOUNDS: Readonly<Record<CronField, readonly [min: number, max: number]>> = { minute: [0, 59], hour: [0, 23], day: [1, 31], month: [1, 12], weekday: [0, 7] };

const NICKNAMES: Readonly<Record<string, string>> = {
  "@YEARLY": "0 0 1 1 *", "@ANNUALLY": "0 0 1 1 *", "@MONTHLY": "0 0 1 * *", "@WEEKLY": "0 0 * * 0", "@DAILY": "0 0 * * *", "@HOURLY": "0 * * * *",
};
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/** Days of month: numbers, the weekdays nearest to some (`15W`), and the last day (`L`) or weekday (`LW`). */
export interface Days {
  readonly numbers: readonly number[];
  readonly nearest: readonly number[];
  readonly last: "day" | "weekday" | null;
}

/** Weekdays, and those that are the nth or last of their month (`5#2`, `5L`). */
export interface Weekdays {
  readonly numbers: readonly number[];
  readonly nth: readonly { readonly weekday: number; readonly nth: number | "last" }[];
}

/** An expression; all numbers are sorted. `days` and `weekdays` are null where any day matches. */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: Days | null;
  readonly months: readonly number[];
  readonly weekdays: Weekdays | null;
  /** Whether a day must match both, else one of them. */
  readonly both: boolean;
}

/** Why an expression is invalid: its first wrong field, or an unknown nickname, or the number of its fields. */
export type CronFault =
  | { readonly kind: "field"; readonly field: CronField; readonly text: string; readonly min: number; readonly max: number }
  | { readonly kind: "nickname" }
  | { readonly kind: "count"; readonly count: number };

/** Reads an expression. */
export function readCron(expression: string): Cron | CronFault {
  const upper = expression.trim().toUpperCase();
  const fields = named(NICKNAMES[upper] ?? upper).split(/\s+/);
  if (fields.length !== FIELDS.length) return upper.startsWith("@") ? { kind: "nickname" } : { kind: "count", count: upper === "" ? 0 : fields.length };
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const read = { minute: numbersOf("minute", minute), hour: numbersOf("hour", hour), day: daysOf(day), month: numbersOf("month", month), weekday: weekdaysOf(weekday.replace(/^\+/, "")) };
  const wrong = FIELDS.findIndex((field) => read[field] === null);
  const field = FIELDS[wrong];
  if (field) return { kind: "field", field, text: expression.trim().split(/\s+/)[wrong] ?? "", min: BOUNDS[field][0], max: BOUNDS[field][1] };
  return { minutes: read.minute ?? [], hours: read.hour ?? [], months: read.month ?? [], ...matched(day, read.day, weekday, read.weekday) };
}

/** Whether an expression was read. */
export function isCron(read: Cron | CronFault): read is Cron {
  return "minutes" in read;
}

// As on the server, a name is replaced wherever it stands.
function named(expression: string): string {
  const numbered = WEEKDAYS.reduce((text, name, at) => text.replaceAll(name, String(at)), expression.replaceAll("-SUN", "-7"));
  return MONTHS.reduce((text, name, at) => text.replaceAll(name, String(at + 1)), numbered);
}

/** The days of both fields. A field that is `*` leaves the choice to the other one; otherwise a day matches either. */
function matched(day: string, days: Days | null, weekday: string, weekdays: Weekdays | null): Pick<Cron, "days" | "weekdays" | "both"> {
  const any = (text: string) => ["*", "?"].includes(text.replace(/^\+/, ""));
  const both = weekday.startsWith("+");
  const all = { days: days?.numbers.length === 31, weekdays: weekdays?.numbers.length === 7 };
  const every = !any(day) && !any(weekday) && !both && (all.days || all.weekdays);
  return { days: any(day) || all.days || every ? null : days, weekdays: any(weekday) || all.weekdays || every ? null : weekdays, both };
}

/** The numbers of a field; null if it is wrong. */
function numbersOf(field: CronField, text: string): number[] | null {
  return collected(text, (part) => rangeOf(field, part));
}

function daysOf(text: string): Days | null {
  const [nearest, last]: [number[], Set<string>] = [[], new Set()];
  const numbers = collected(text.replaceAll("?", "*"), (part) => {
    const special = /^(L|\d+)(W?)$/.exec(part);
    if (special?.[1] === "L") last.add(part);
    else if (special?.[2] === "W") return rangeOf("day", special[1] ?? "")?.flatMap((day) => { nearest.push(day); return []; }) ?? null;
    else return rangeOf("day", part);
    return [];
  });
  // Beside the last weekday, the last day has no effect.
  return numbers && { numbers, nearest: sorted(nearest), last: last.has("LW") ? "weekday" : last.has("L") ? "day" : null };
}

function weekdaysOf(text: string): Weekdays | null {
  const nth: { weekday: number; nth: number | "last" }[] = [];
  const numbers = collected(text.replaceAll("?", "*"), (part) => {
    const special = /^(?:(.*\d)#([1-5L])|(\d+)L)$/.exec(part);
    const found = rangeOf("weekday", special ? special[1] ?? special[3] ?? "" : part)?.map((weekday) => weekday % 7);
    if (!special || !found) return found ?? null;
    const which = special[2] ?? "L";
    nth.push(...found.map((weekday) => ({ weekday, nth: which === "L" ? "last" as const : Number(which) })));
    return [];
  });
  return numbers && { numbers, nth };
}

/** The numbers of a list's parts; null if one is wrong, or if there is none. */
function collected(text: string, read: (part: string) => number[] | null): number[] | null {
  const parts = text.split(",").filter((part) => part !== "");
  const found = parts.map(read);
  const isOpen = parts.length > 1 && parts.includes("*");
  if (parts.length === 0 || isOpen || found.includes(null)) return null;
  return sorted(found.flatMap((numbers) => numbers ?? []));
}

// The numbers of `*`, `5`, `1-5`, `*/2` and `1-5/2`; null for anything else. As on the server, `5/2` is wrong.
function rangeOf(field: CronField, part: string): number[] | null {
  const [min, max] = BOUNDS[field];
  const [whole, from, to, step] = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part) ?? [];
  const [first, last, by] = [Number(from ?? min), Number(to ?? from ?? max), Number(step ?? 1)];
  const isOpen = step !== undefined && from !== undefined && to === undefined;
  if (whole === undefined || isOpen || first < min || last > max || first > last || by === 0) return null;
  return Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, at) => first + at * by);
}

function sorted(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((one, other) => one - other);
}
