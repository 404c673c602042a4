//! A live run on the canvas: the states of its tasks.

import { request, type Answer } from "../api/client";
import type { Page, Schema } from "../api/typed";
import { live, type Live } from "../core/live";
import type { EditorStore, LiveTask } from "./store";

/** A run, as in the API. */
export type Run = Schema<"RunView">;
type TaskView = Schema<"TaskView">;

export function hasEnded(run: Run): boolean {
  return ["succeeded", "failed", "cancelled"].includes(run.state);
}

/** Follows one run. Simultaneous changes are shown together. */
export class RunWatch {
  readonly #live: Live;
  readonly #tasks = new Map<string, LiveTask>();
  #frame = 0;

  /** `told` gets the run whenever it has changed; `null` when it is deleted. */
  constructor(private readonly store: EditorStore, run: string, told: (run: Run | null) => void) {
    this.#live = live(`/api/v1/runs/${run}/events`, {
      on: {
        snapshot: (data) => {
          const { runs, tasks, truncated } = data as { runs: Run[]; tasks: TaskView[]; truncated: boolean };
          this.#tasks.clear();
          for (const task of tasks) this.#take(task);
          if (truncated) void this.#rest(run);
          if (runs[0]) told(runs[0]);
        },
        task: (data) => { this.#take((data as { task: TaskView }).task); },
        run: (data) => { told((data as { run: Run }).run); },
        deleted: () => { told(null); },
      },
    });
  }

  close(): void {
    this.#live.close();
    cancelAnimationFrame(this.#frame);
    this.store.set({ live: null });
  }

  #take(task: TaskView): void {
    this.#tasks.set(task.name, liveOf(task));
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => { this.#show(); });
  }

  #show(): void {
    this.#frame = 0;
    this.store.set({ live: new Map(this.#tasks) });
  }

  /** The stream of a large run starts with the first tasks only. */
  async #rest(run: string): Promise<void> {
    let cursor: string | null | undefined = "";
    while (typeof cursor === "string") {
      const after: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { data }: Answer<Page<TaskView>> = await request("GET", `/runs/${run}/tasks?limit=200${after}`);
      for (const task of data.items) if (!this.#tasks.has(task.name)) this.#take(task);
      cursor = data.next_cursor;
    }
  }
}

/** A task of a run as canvas state. */
export function liveOf(task: TaskView): LiveTask {
  const { step, total } = task.progress ?? {};
  const { instances } = task;
  const reason = task.failure?.message ?? task.wait?.message ?? task.preparing ?? task.note;
  return {
    state: task.state,
    attempts: 1 + retries(task),
    ...(step !== undefined && total !== undefined && total !== null ? { progress: { done: step, total } } : {}),
    ...(instances.total > 1 ? { instances: { done: instances.total - inState(instances, OPEN), total: instances.total } } : {}),
    ...(task.started_at ? { startedAt: Date.parse(task.started_at) } : {}),
    ...(task.ended_at ? { endedAt: Date.parse(task.ended_at) } : {}),
    ...(reason ? { reason } : {}),
  };
}

/** The states of instances that have not ended. */
const OPEN = ["pending", "waiting", "backoff", "running"];

function inState({ states }: TaskView["instances"], wanted: readonly string[]): number {
  return wanted.reduce((sum, state) => sum + (states[state] ?? 0), 0);
}

// The first attempt at each instance is no retry, and instances that have not started have no attempt.
function retries({ attempts, instances }: TaskView): number {
  return Math.max(0, attempts - (instances.total - inState(instances, ["pending", "waiting", "reused", "skipped"])));
}
