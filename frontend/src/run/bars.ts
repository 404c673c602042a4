// Attempts as rows of bars, one row an instance.

/** An attempt, as the page carries it; times are milliseconds since the epoch. */
export interface Attempt {
  readonly task: string;
  readonly instance: number;
  readonly attempt: number;
  /** When what it needs had ended, for a first attempt. */
  readonly ready?: number | null;
  readonly created: number;
  readonly started?: number | null;
  readonly ended?: number | null;
  readonly state: string;
}

/** A stretch of time of an attempt. */
export interface Bar {
  readonly from: number;
  readonly to: number | null;
  readonly state: string;
  readonly attempt: number;
  /** Whether it waits or is made ready; otherwise it runs. */
  readonly ready: boolean;
}

/** The bars of an instance. */
export interface Row {
  readonly id: string;
  readonly label: string;
  readonly state: string;
  readonly bars: Bar[];
}

/** Shorter waits are not worth a bar, in milliseconds. */
const SHORT = 50;

/** The rows, in the order of their first attempts; the state of a row is its task's or, of many, its last attempt's. */
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
