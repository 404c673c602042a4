//! Moments and durations as people read them.

import { language, t } from "./texts";

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

/** `3 minutes ago`, in a language. Seconds are negative for the past. */
export function relative(seconds: number, lang: string): string {
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  const format = new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" });
  return format.format(Math.trunc(seconds / size), unit);
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

/** Bytes: `512 B`, `1.5 KiB`, `3.0 GiB`. */
export function bytes(amount: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const power = Math.min(units.length - 1, amount < 1 ? 0 : Math.floor(Math.log2(amount) / 10));
  const value = amount / 1024 ** power;
  return `${power === 0 ? String(Math.round(value)) : value.toFixed(value < 10 ? 1 : 0)} ${units[power] ?? "B"}`;
}

/** The exact moment in the reader's language and time zone. */
export function exact(moment: Date, lang: string): string {
  return new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" }).format(moment);
}

/** Words of the elements inside: `time[data-moment]`, `[data-since]`, `[data-seconds]`, `[data-bytes]`. */
export function paintTimes(inside: ParentNode = document): void {
  const now = Date.now();
  const lang = language();
  for (const element of inside.querySelectorAll<HTMLTimeElement>("time[data-moment]")) {
    const moment = new Date(element.dateTime);
    const seconds = (moment.getTime() - now) / 1000;
    setText(element, Math.abs(seconds) < 5 ? t("common.just-now") : relative(seconds, lang));
    if (!element.title) element.title = exact(moment, lang);
  }
  for (const element of inside.querySelectorAll<HTMLElement>("[data-since]")) {
    setText(element, duration((now - new Date(element.dataset["since"] ?? "").getTime()) / 1000));
  }
  for (const element of inside.querySelectorAll<HTMLElement>("[data-seconds]")) {
    setText(element, duration(Number(element.dataset["seconds"])));
  }
  for (const element of inside.querySelectorAll<HTMLElement>("[data-bytes]")) {
    setText(element, bytes(Number(element.dataset["bytes"])));
  }
}

// Only what changes is written: a selection in the text survives, and nobody is told the same twice.
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Keeps the page's times true, once a second while somebody looks. */
export function tick(): void {
  paintTimes();
  setInterval(() => {
    if (document.visibilityState === "visible") paintTimes();
  }, 1000);
}
