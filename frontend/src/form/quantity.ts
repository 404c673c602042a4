//! Amounts: `500m` CPUs, `512Mi` of memory, `1h30m` of time. Pure; the same syntax as the server's.

export type Measure = "cpu" | "bytes" | "span";

const BYTES: Readonly<Record<string, number>> = {
  "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50,
};
const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, "": 1, m: 60, h: 3600, d: 86_400 };

/** An amount in CPUs, bytes or seconds; null if the text is malformed. */
export function amount(measure: Measure, text: string): number | null {
  const trimmed = text.trim();
  if (measure === "span") return span(trimmed);
  const found = /^(\d+\.?\d*|\.\d+)([a-zA-Z]*)$/.exec(trimmed);
  if (!found) return null;
  const [, number = "", unit = ""] = found;
  if (measure === "cpu") return unit === "" ? Number(number) : unit === "m" ? Number(number) / 1000 : null;
  const scale = BYTES[unit.replace(/B$/, "")];
  return scale === undefined ? null : Number(number) * scale;
}

function span(text: string): number | null {
  if (!/^((\d+\.?\d*|\.\d+)(ms|s|m|h|d|$))+$/.test(text)) return null;
  let seconds = 0;
  for (const [, number = "", unit = ""] of text.matchAll(/([\d.]+)(ms|s|m|h|d|)/g)) seconds += Number(number) * (SECONDS[unit] ?? 0);
  return seconds;
}

/** Readable bytes: `1.5 GiB`. */
export function bytesShown(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${rounded(value)} ${units[unit] ?? ""}`;
}

/** A number with at most one decimal place. */
export function rounded(value: number): string {
  return String(Math.round(value * 10) / 10);
}
