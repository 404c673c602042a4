// Runs of a pipeline by their tasks, as the API returns them: the order of tasks, and the heights of bars.

export interface GridRun {
  readonly id: string;
  readonly state: string;
  readonly created_at: string;
  readonly started_at?: string;
  readonly duration_seconds?: number;
  readonly version?: number;
  readonly logical_date?: string;
}

export interface GridCell {
  /** The run's position. */
  readonly run: number;
  readonly state: string;
  readonly instances: number;
  readonly attempts: number;
  readonly run_seconds?: number;
}

export interface GridTask {
  readonly name: string;
  /** Whether only other versions of the pipeline have it. */
  readonly removed: boolean;
  readonly failures: number;
  readonly cells: readonly GridCell[];
}

export interface GridData {
  /** Oldest first. */
  readonly runs: readonly GridRun[];
  readonly tasks: readonly GridTask[];
  readonly durations: { readonly median_seconds?: number };
}

/** `document`: in document order. `failures`: the tasks that failed most come first. */
export type Order = "document" | "failures";

export function ordered(tasks: readonly GridTask[], order: Order): readonly GridTask[] {
  return order === "document" ? tasks : tasks.toSorted((a, b) => b.failures - a.failures);
}

/** Whether a run is active, so that its duration grows. */
export function isGrowing(run: GridRun): boolean {
  return run.started_at !== undefined && run.duration_seconds === undefined;
}

/** A run's duration so far, in seconds; null before its start. `now` is in milliseconds since the epoch. */
export function took(run: GridRun, now: number): number | null {
  if (run.duration_seconds !== undefined) return run.duration_seconds;
  return run.started_at === undefined ? null : Math.max(0, (now - Date.parse(run.started_at)) / 1000);
}

/** The durations on a common scale. */
export interface Bars {
  /** Each run's duration in seconds; null before its start. */
  readonly took: readonly (number | null)[];
  /** The longest duration in seconds; null if no run has started. */
  readonly longest: number | null;
  /** The median of succeeded runs, as a fraction of the longest duration. */
  readonly median: number | null;
}

export function bars(data: GridData, now: number): Bars {
  const all = data.runs.map((run) => took(run, now));
  const longest = all.reduce((most, one) => (one === null ? most : Math.max(most ?? 0, one)), null);
  const median = data.durations.median_seconds;
  return { took: all, longest, median: median === undefined || !longest ? null : Math.min(1, median / longest) };
}
