// Attempts as rows of bars, one row per instance.

/** An attempt, as in the page; times are milliseconds since the epoch. */
export interface Attempt {
  readonly task: string;
  readonly instance: number;
  readonly attempt: number;
  /** When its dependencies had ended, for a first attempt. */
  readonly ready?: number | null;
  readonly created: number;
  readonly started?: number | null;
  readonly ended?: number | null;
  readonly state: string;
}

/** A time range of an attempt. */
export interface Bar {
  readonly from: number;
  readonly to: number | null;
  readonly state: string;
  readonly attempt: number;
  /** Whether it is pending or being prepared; otherwise it is running. */
  readonly ready: boolean;
}

/** The bars of an instance. */
export interface Row {
  readonly id: string;
  readonly label: string;
  readonly state: string;
  readonly bars: Bar[];
}

/** Shorter waits get no bar, in milliseconds. */
const SHORT = 50;

/**
 * The rows, in the order of their first attempts. A row's state is its task's or, with several instances, its
 * last attempt's.
 */
export function rows(attempts: readonly Attempt[], states: Readonly<Record<string, string>>): Row[] {
  const found = new Map<string, Attempt[]>();
  const instances = new Map<string, Set<number>>();
  for (const attempt of attempts) {
    const id = `${attempt.task}#${attempt.instance}`;
    found.set(id, [...(found.get(id) ?? []), attempt]);
    instances.set(attempt.task, (instances.get(attempt.task) ?? new Set()).add(attempt.instance));
  }
  return [...found].map(([id, tries]) => {
    const last = tries.at(-1);
    const task = last?.task ?? "";
    const alone = (instances.get(task)?.size ?? 0) < 2;
    const state = alone ? (states[task] ?? last?.state) : last?.state;
    return { id, label: alone ? task : id, state: state ?? "pending", bars: tries.flatMap(bars) };
  });
}

function bars(attempt: Attempt): Bar[] {
  const { attempt: n, created, started = null, ended = null, state } = attempt;
  const begin = attempt.ready ?? created;
  const waited: Bar = { from: begin, to: started ?? ended, state: "waiting", attempt: n, ready: true };
  if (started === null) return [waited];
  const ran: Bar = { from: started, to: ended, state, attempt: n, ready: false };
  return started - begin > SHORT ? [waited, ran] : [ran];
}
