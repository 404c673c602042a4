// Several runs as the rows of one table: what differs, with the difference to the first run.

import { duration } from "../core/time";

/** A value that a task reported; a text if it is not finite. */
export interface TaskValue {
  readonly task: string;
  readonly name: string;
  readonly value: number | string;
}

/** A run as the API returns it. */
export interface ComparedRun {
  readonly run: {
    readonly id: string;
    readonly pipeline: string;
    readonly phase: string;
    readonly user: string;
    readonly created_at: string;
    readonly started_at?: string;
    readonly duration_seconds?: number;
    readonly version?: number;
  };
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly metrics: readonly TaskValue[];
  readonly outputs: readonly TaskValue[];
  readonly tasks: readonly { readonly name: string; readonly state: string; readonly run_seconds?: number }[];
}

export interface Cell {
  readonly text: string;
  /** The difference to the first run; empty if there is none. */
  readonly difference: string;
  /** State of a task. */
  readonly state?: string;
}

export interface Row {
  readonly name: string;
  /** The task that reported the value; empty for other rows. */
  readonly task: string;
  readonly cells: readonly Cell[];
  /** Whether all runs have the same value. */
  readonly same: boolean;
}

export type Kind = "parameters" | "metrics" | "outputs" | "tasks";

export interface Group {
  readonly kind: Kind;
  readonly rows: readonly Row[];
}

/** A number without unnecessary digits, in the server's format (`show::number`). */
export function shown(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(3);
  return value.toFixed(4).replace(/\.?0+$/, "");
}

/** The rows of these runs by kind; kinds without rows are omitted. */
export function groups(runs: readonly ComparedRun[]): Group[] {
  const all: Group[] = [
    { kind: "parameters", rows: parameters(runs) },
    { kind: "metrics", rows: reported(runs.map((run) => run.metrics)) },
    { kind: "outputs", rows: reported(runs.map((run) => run.outputs)) },
    { kind: "tasks", rows: tasks(runs) },
  ];
  return all.filter(({ rows }) => rows.length > 0);
}

/** Distinct keys, in the order in which the runs have them. */
function distinct(lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}

function equal(values: readonly unknown[]): boolean {
  const [first, ...rest] = values.map((value) => JSON.stringify(value));
  return rest.every((value) => value === first);
}

function parameters(runs: readonly ComparedRun[]): Row[] {
  return distinct(runs.map((run) => Object.keys(run.parameters))).map((name) => {
    const values = runs.map((run) => run.parameters[name]);
    return { name, task: "", cells: values.map((value) => ({ text: text(value), difference: "" })), same: equal(values) };
  });
}

function text(value: unknown): string {
  if (value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function reported(runs: readonly (readonly TaskValue[])[]): Row[] {
  const key = ({ name, task }: TaskValue): string => JSON.stringify([name, task]);
  const byKey = runs.map((values) => new Map(values.map((one) => [key(one), one.value])));
  return distinct(runs.map((values) => values.map(key))).map((found) => {
    const [name = "", task = ""] = JSON.parse(found) as string[];
    const values = byKey.map((known) => known.get(found));
    const cells = values.map((value) => ({
      text: typeof value === "number" ? shown(value) : (value ?? "–"),
      difference: difference(values[0], value, shown),
    }));
    return { name, task, cells, same: equal(values) };
  });
}

/** `+0.02`, `−12 s`; empty if the values are equal or not comparable. */
function difference(first: unknown, value: unknown, format: (amount: number) => string): string {
  if (typeof first !== "number" || typeof value !== "number" || first === value) return "";
  return `${value > first ? "+" : "−"}${format(Math.abs(value - first))}`;
}

function tasks(runs: readonly ComparedRun[]): Row[] {
  return distinct(runs.map((run) => run.tasks.map(({ name }) => name))).map((name) => {
    const found = runs.map((run) => run.tasks.find((task) => task.name === name));
    const texts = found.map((task) => (task?.run_seconds === undefined ? "–" : duration(task.run_seconds)));
    const cells = found.map((task, at) => ({
      text: texts[at] ?? "–",
      // Times that read the same have no difference worth showing.
      difference: texts[at] === texts[0] ? "" : difference(found[0]?.run_seconds, task?.run_seconds, duration),
      ...(task === undefined ? {} : { state: task.state }),
    }));
    return { name, task: "", cells, same: equal(cells.map(({ text: time, state }) => [time, state])) };
  });
}
