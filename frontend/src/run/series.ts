// Metric series as plots: one plot per name, one line per task and instance.

/** A series, as in the API. */
export interface Series {
  readonly name: string;
  readonly task: string;
  readonly instance: number;
  readonly points: readonly (readonly [number, number | null])[];
  readonly not_finite?: NotFinite | null;
}

/** NaN or infinite values of a series: their number, and the first one. */
export interface NotFinite {
  readonly count: number;
  readonly step: number;
  readonly value: string;
}

/** A line of a plot. */
export interface Line {
  readonly label: string;
  readonly x: number[];
  readonly y: (number | null)[];
  readonly notFinite?: NotFinite;
}

export function plots(series: readonly Series[], prefix = ""): Map<string, Line[]> {
  const found = new Map<string, Line[]>();
  for (const one of series) {
    const several = series.some((other) => other.name === one.name && other.task === one.task && other.instance !== one.instance);
    const label = prefix + (several ? `${one.task}#${one.instance}` : one.task);
    found.set(one.name, [...(found.get(one.name) ?? []), line(label, one)]);
  }
  return found;
}

/** A line; of several values for one step, the last wins: a resumed run reports steps again. */
function line(label: string, { points, not_finite: notFinite }: Series): Line {
  const bySteps = [...new Map(points.map(([step, value]) => [step, value]))].sort(([a], [b]) => a - b);
  const drawn = { label, x: bySteps.map(([step]) => step), y: bySteps.map(([, value]) => value) };
  return notFinite ? { ...drawn, notFinite } : drawn;
}
