//! Names and edges: duplicates, missing dependencies, cycles, order.

import type { PipelineDocument } from "../document";
import { mistake, type Finding } from "../finding";
import { nearest } from "../nearest";

/** The maximum number of unknown names with a hint: each is compared with all others. */
const HINTS = 50;

export class Edges {
  readonly #places = new Map<string, number>();
  readonly #before: number[][] = [];
  /** Each task's rank in a topological order. */
  readonly #rank: number[] = [];
  /** Whether there is a cycle; ranks are then meaningless. */
  cyclic = false;
  #hints = HINTS;
  readonly #names: readonly string[];

  constructor(document: PipelineDocument, findings: Finding[]) {
    this.#names = document.tasks.map((task) => task.name);
    this.#names.forEach((name, at) => {
      const first = this.#places.get(name);
      if (first === undefined) this.#places.set(name, at);
      else findings.push(mistake("duplicate_name", `/tasks/${at}/name`, /* text */ "graph.duplicate-name", { name, number: first + 1 }));
    });
    document.tasks.forEach((task, at) => { this.#before.push(this.#needs(task.needs ?? [], at, findings)); });
    const cycle = this.#cycle();
    if (cycle.length === 0) return;
    this.cyclic = true;
    const names = cycle.map((at) => this.#names[at] ?? "");
    const shown = names.length > 20 ? [...names.slice(0, 20), "..."] : names;
    findings.push(mistake("cycle", `/tasks/${cycle[0] ?? 0}/needs`, /* text */ "graph.cycle", { cycle: shown.join(" → ") }));
  }

  #needs(needs: readonly string[], at: number, findings: Finding[]): number[] {
    const found = new Set<number>();
    needs.forEach((need, position) => {
      const path = `/tasks/${at}/needs/${position}`;
      const before = this.find(need);
      if (before === undefined) findings.push(this.unknown(need, path));
      else if (found.has(before)) findings.push({ ...mistake("suspicious", path, /* text */ "graph.listed-twice", { name: need }), severity: "warning" });
      else found.add(before);
    });
    return [...found];
  }

  find(name: string): number | undefined {
    return this.#places.get(name);
  }

  /** The problem of a missing task. */
  unknown(name: string, path: string): Finding {
    this.#hints -= 1;
    const near = this.#hints >= 0 ? nearest(name, this.#places.keys()) : undefined;
    return near === undefined
      ? mistake("unknown_task", path, /* text */ "graph.unknown-task", { name })
      : mistake("unknown_task", path, /* text */ "graph.unknown-task-near", { name, near });
  }

  /** Whether a task must end before another starts. */
  isBefore(before: number, task: number): boolean {
    if (this.cyclic) return true;
    const rank = this.#rank[before] ?? 0;
    const seen = new Set<number>();
    const left = [task];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      const needs = this.#before[at] ?? [];
      if (needs.includes(before)) return true;
      for (const need of needs) {
        // A task of lower rank cannot come after it.
        if (seen.has(need) || (this.#rank[need] ?? 0) <= rank) continue;
        seen.add(need);
        left.push(need);
      }
    }
    return false;
  }

  /**
   * A cycle, in which each task needs the next, with the first repeated at the end; empty if there is none.
   */
  #cycle(): number[] {
    const open = this.#before.map((before) => before.length);
    const after: number[][] = open.map(() => []);
    this.#before.forEach((before, at) => { for (const one of before) after[one]?.push(at); });
    const order = open.flatMap((count, at) => (count === 0 ? [at] : []));
    for (let place = 0; place < order.length; place += 1) {
      for (const next of after[order[place] ?? 0] ?? []) {
        open[next] = (open[next] ?? 0) - 1;
        if (open[next] === 0) order.push(next);
      }
    }
    order.forEach((at, place) => { this.#rank[at] = place; });
    const stuck = (at: number) => (open[at] ?? 0) > 0;
    let at = open.findIndex((count) => count > 0);
    const walk: number[] = [];
    while (at >= 0 && !walk.includes(at)) {
      walk.push(at);
      at = this.#before[at]?.find(stuck) ?? -1;
    }
    return at < 0 ? [] : [...walk.slice(walk.indexOf(at)), at];
  }
}

/** The edges of a document, and their problems. */
export function checkEdges(document: PipelineDocument, findings: Finding[]): Edges {
  return new Edges(document, findings);
}
