//! The scale and smoothing of all plots of metrics, which the browser remembers.

export const SMOOTHINGS = [0, 0.6, 0.9] as const;

export interface View {
  readonly log: boolean;
  readonly smoothing: (typeof SMOOTHINGS)[number];
}

const LOG = "cubeloom.metric-log";
const SMOOTHING = "cubeloom.metric-smoothing";

const watching = new Set<() => void>();

export function view(): View {
  const kept = Number(localStorage.getItem(SMOOTHING));
  return { log: localStorage.getItem(LOG) === "on", smoothing: SMOOTHINGS.find((one) => one === kept) ?? 0 };
}

/** Changes the view of all plots of metrics. */
export function choose({ log, smoothing }: Partial<View>): void {
  if (log !== undefined) localStorage.setItem(LOG, log ? "on" : "off");
  if (smoothing !== undefined) localStorage.setItem(SMOOTHING, String(smoothing));
  for (const changed of watching) changed();
}

/** Calls after each change; returns what ends that. */
export function watchView(changed: () => void): () => void {
  watching.add(changed);
  return () => { watching.delete(changed); };
}
