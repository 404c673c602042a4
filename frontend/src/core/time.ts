//! Formats times, durations and sizes.

import { language, t } from "./texts";

const DAY = 86_400;

/** Units for the past and the future, in seconds. */
const UNITS: [size: number, past: string, coming: string][] = [
  [31_557_600, /* text */ "common.past-year", /* text */ "common.coming-year"],
  [2_629_800, /* text */ "common.past-month", /* text */ "common.coming-month"],
  [DAY, /* text */ "common.past-day", /* text */ "common.coming-day"],
  [3600, /* text */ "common.past-hour", /* text */ "common.coming-hour"],
  [60, /* text */ "common.past-minute", /* text */ "common.coming-minute"],
  [1, /* text */ "common.past-second", /* text */ "common.coming-second"],
];

/**
 * `just now`, `3 min ago`, `in 40 days`, in the server's format (`show::relative`). Seconds are negative for
 * the past. Up to ninety days are shown in days, which is more precise than months.
 */
export function relative(seconds: number): string {
  const away = Math.trunc(Math.abs(seconds));
  if (away < 5) return t("common.just-now");
  const unit = UNITS.find(([size]) => away >= size && (size <= DAY || away >= 90 * DAY));
  if (!unit) return "";
  const [size, past, coming] = unit;
  return t(/* text */ seconds < 0 ? past : coming, { n: Math.trunc(away / size) });
}

/** A duration in seconds: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 05 min`, `3 d 04 h`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 0) return duration(0);
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 86_400)} d ${two(Math.floor((whole % 86_400) / 3600))} h`;
}

/** `1 minute`, `45 minutes`, `3 hours`, in the server's format (`show::about`): for estimates, rounded up. */
export function about(seconds: number): string {
  const minutes = Math.max(1, Math.ceil(Math.floor(seconds) / 60));
  if (minutes < 120) return t("common.about-minute", { n: minutes });
  if (minutes < 2880) return t("common.about-hour", { n: Math.ceil(minutes / 60) });
  return t("common.about-day", { n: Math.ceil(minutes / 1440) });
}

/** Bytes: `512 B`, `1.5 KiB`, `3.0 GiB`. */
export function bytes(amount: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const power = Math.min(units.length - 1, amount < 1 ? 0 : Math.floor(Math.log2(amount) / 10));
  const value = amount / 1024 ** power;
  return `${power === 0 ? String(Math.round(value)) : value.toFixed(value < 10 ? 1 : 0)} ${units[power] ?? "B"}`;
}

/** The exact time in the user's language and time zone. */
export function exact(moment: Date, lang: string): string {
  return new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" }).format(moment);
}

/** Updates the elements inside: `time[data-moment]`, `[data-since]`. */
export function paintTimes(inside: ParentNode = document): void {
  const now = Date.now();
  const lang = language();
  for (const element of inside.querySelectorAll<HTMLTimeElement>("time[data-moment]")) {
    const moment = new Date(element.dateTime);
    const seconds = (moment.getTime() - now) / 1000;
    setText(element, relative(seconds));
    if (!element.title) element.title = exact(moment, lang);
  }
  for (const element of inside.querySelectorAll<HTMLElement>("[data-since]")) {
    setText(element, duration((now - new Date(element.dataset["since"] ?? "").getTime()) / 1000));
  }
}

// Only writes changes: this keeps text selections, and avoids repeated announcements.
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Updates the page's times once a second while the page is visible. */
export function tick(): void {
  paintTimes();
  setInterval(() => {
    if (document.visibilityState === "visible") paintTimes();
  }, 1000);
}
