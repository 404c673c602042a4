//! Three-way merge of two users' changes to a document: by task, and by field within a task.

import type { Canvas, Frame, Json, Note, PipelineDocument, Task } from "./document";
import { canvasWithNames, ownFields, renames } from "./diff";
import { freeName, without } from "./edits/base";
import type { Path } from "./edits/fields";
import { freeId } from "./edits/frames";
import { withNames } from "./edits/rename";
import { equal, isMapping } from "./equal";
import { pointer } from "./finding";

/** Whose value wins. */
export type Side = "mine" | "theirs";

/** A value that both changed differently. `path` is empty if one removed the task that the other changed. */
export interface Conflict {
  /** Identifies the conflict in `choices`. */
  readonly id: string;
  /** The task's name in the base; absent for the pipeline's own fields and the canvas. */
  readonly task: string | undefined;
  readonly path: Path;
  readonly base: Json | undefined;
  readonly mine: Json | undefined;
  readonly theirs: Json | undefined;
}

/** The result of a merge. */
export interface Merged {
  readonly document: PipelineDocument;
  /** All conflicts, including those with a choice. By default, mine wins. */
  readonly conflicts: readonly Conflict[];
}

/**
 * Merges two documents with a common base. Changes of only one side are applied; `choices` are by conflict
 * id.
 */
export function merge(base: PipelineDocument, mine: PipelineDocument, theirs: PipelineDocument, choices: ReadonlyMap<string, Side> = new Map()): Merged {
  const [myNames, theirNames] = [renames(base, mine), renames(base, theirs)];
  const [left, right] = [underOldNames(mine, myNames), underOldNames(theirs, theirNames)];
  const merger = new Merger(choices);
  const names = merger.names(myNames, theirNames);
  const fields = merger.value(ownFields(base), ownFields(left), ownFields(right), undefined, []);
  const tasks = merger.tasks(base.tasks, left.tasks, right.tasks);
  const canvas = merger.canvas(base.canvas ?? {}, left.canvas ?? {}, right.canvas ?? {}, new Set(tasks.map((task) => task.name)));
  const joined = without({ ...(fields as object), tasks, canvas: Object.keys(canvas).length > 0 ? canvas : undefined }) as unknown as PipelineDocument;
  return { document: renamed(joined, withoutClashes(tasks, names)), conflicts: merger.conflicts };
}

/** Reverts renames of tasks, so that both sides can be compared. */
function underOldNames(document: PipelineDocument, names: ReadonlyMap<string, string>): PipelineDocument {
  return names.size === 0 ? document : renamed(document, new Map([...names].map(([from, to]) => [to, from])));
}

function renamed(document: PipelineDocument, names: ReadonlyMap<string, string>): PipelineDocument {
  if (names.size === 0) return document;
  const tasks = document.tasks.map((task) => ({ ...withNames(task, names), name: names.get(task.name) ?? task.name }));
  const canvas = canvasWithNames(document.canvas, names);
  return { ...document, tasks, ...(canvas ? { canvas } : {}) };
}

/** If both added a task under the same name, one of them gets a free name. */
function withoutClashes(tasks: readonly Task[], names: ReadonlyMap<string, string>): Map<string, string> {
  const own = new Set(tasks.map((task) => task.name));
  const given = new Set(names.values());
  const all = new Map(names);
  for (const name of own) if (given.has(name) && !names.has(name)) all.set(name, freeName(new Set([...own, ...given, ...all.values()]), name));
  return all;
}

class Merger {
  readonly conflicts: Conflict[] = [];

  constructor(private readonly choices: ReadonlyMap<string, Side>) {}

  /** The final names of the base's tasks. */
  names(mine: ReadonlyMap<string, string>, theirs: ReadonlyMap<string, string>): Map<string, string> {
    const names = new Map([...theirs, ...mine]);
    for (const [name, my] of mine) {
      const their = theirs.get(name);
      if (their !== undefined && their !== my && this.#choose(name, ["name"], name, my, their) === "theirs") names.set(name, their);
    }
    return names;
  }

  tasks(base: readonly Task[], mine: readonly Task[], theirs: readonly Task[]): Task[] {
    const [was, their] = [byName(base), byName(theirs)];
    const known = new Set([...was.keys(), ...mine.map((task) => task.name)]);
    const kept = mine.flatMap((task) => {
      const before = was.get(task.name);
      const other = their.get(task.name);
      if (!other && !before) return [task];
      return this.#task(task.name, before, task, other) ?? [];
    });
    const back = base.flatMap((before) => {
      const other = their.get(before.name);
      return other && !mine.some((task) => task.name === before.name) ? (this.#task(before.name, before, undefined, other) ?? []) : [];
    });
    return [...kept, ...back, ...theirs.filter((task) => !known.has(task.name))];
  }

  #task(name: string, base: Task | undefined, mine: Task | undefined, theirs: Task | undefined): Task | undefined {
    if (!mine || !theirs) {
      const other = mine ?? theirs;
      if (equal(other, base)) return undefined;
      const side = this.#choose(name, [], base as Json | undefined, mine as Json | undefined, theirs as Json | undefined);
      return side === "mine" ? mine : theirs;
    }
    return this.value((base ?? {}) as Json, mine as Json, theirs as Json, name, []) as unknown as Task;
  }

  /** Merges three states of one value. */
  value(base: Json | undefined, mine: Json | undefined, theirs: Json | undefined, task: string | undefined, path: Path): Json | undefined {
    if (mine === theirs || equal(mine, theirs) || equal(base, theirs)) return mine;
    if (equal(base, mine)) return theirs;
    if (isMapping(mine) && isMapping(theirs) && (base === undefined || isMapping(base))) {
      const keys = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
      return without(Object.fromEntries([...keys].map((key) => [key, this.value(own(base, key), own(mine, key), own(theirs, key), task, [...path, key])]))) as Json;
    }
    if (task !== undefined && path.length === 1 && path[0] === "needs") return joinedList(base, mine, theirs);
    return this.#choose(task, path, base, mine, theirs) === "mine" ? mine : theirs;
  }

  /**
   * Positions and frames cause no conflicts: if both changed them, mine win. Their new items get free ids.
   */
  canvas(base: Canvas, mine: Canvas, theirs: Canvas, tasks: ReadonlySet<string>): Canvas {
    const silent = new Merger(new Map());
    const apart = {
      ...theirs,
      ...(theirs.frames ? { frames: freshIds("f", base.frames, mine.frames, theirs.frames) } : {}),
      ...(theirs.notes ? { notes: freshIds("n", base.notes, mine.notes, theirs.notes) } : {}),
    };
    const plain = (canvas: Canvas) => canvas as unknown as Json;
    const merged = (silent.value(plain(base), plain(mine), plain(apart), undefined, []) ?? {}) as unknown as Canvas;
    const frames = Object.entries(merged.frames ?? {}).map(([id, frame]): [string, Frame] => [id, {
      ...frame,
      tasks: (joinedList(own(base.frames, id, "tasks"), own(mine.frames, id, "tasks"), own(apart.frames, id, "tasks")) as string[]).filter((task) => tasks.has(task)),
    }]);
    const once = new Set<string>();
    const filled = frames
      .map(([id, frame]): [string, Frame] => [id, { ...frame, tasks: frame.tasks.filter((task) => !once.has(task) && once.add(task)) }])
      .filter(([, frame]) => frame.tasks.length > 0);
    const positions = Object.entries(merged.positions ?? {}).filter(([name]) => tasks.has(name));
    return without({
      ...merged,
      positions: positions.length > 0 ? Object.fromEntries(positions) : undefined,
      frames: filled.length > 0 ? Object.fromEntries(filled) : undefined,
      notes: Object.keys(merged.notes ?? {}).length > 0 ? merged.notes : undefined,
    });
  }

  #choose(task: string | undefined, path: Path, base: Json | undefined, mine: Json | undefined, theirs: Json | undefined): Side {
    const id = `${task === undefined ? "" : `task:${task}`}${pointer(path)}`;
    this.conflicts.push({ id, task, path, base, mine, theirs });
    return this.choices.get(id) ?? "mine";
  }
}

/** A list in which order matters little: mine, without their removals, with their additions. */
function joinedList(base: Json | undefined, mine: Json | undefined, theirs: Json | undefined): Json | undefined {
  const [was, my, their] = [base, mine, theirs].map((list) => (Array.isArray(list) ? (list as Json[]) : []));
  const joined = [...(my ?? []).filter((one) => !was?.includes(one) || their?.includes(one)), ...(their ?? []).filter((one) => !was?.includes(one) && !my?.includes(one))];
  return joined.length > 0 || Array.isArray(mine) === Array.isArray(theirs) ? joined : undefined;
}

/** If both added an item under the same id, theirs gets a free id. */
function freshIds<T extends Frame | Note>(letter: string, base: Readonly<Record<string, T>> = {}, mine: Readonly<Record<string, T>> = {}, theirs: Readonly<Record<string, T>>): Record<string, T> {
  const result: Record<string, T> = {};
  for (const [id, item] of Object.entries(theirs)) {
    const clash = !Object.hasOwn(base, id) && Object.hasOwn(mine, id) && !equal(mine[id], item);
    result[clash ? freeId(letter, { ...base, ...mine, ...theirs, ...result }) : id] = item;
  }
  return result;
}

function byName(tasks: readonly Task[]): Map<string, Task> {
  return new Map(tasks.map((task) => [task.name, task]));
}

function own(mapping: unknown, ...path: string[]): Json | undefined {
  let value = mapping;
  for (const key of path) {
    if (!isMapping(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value as Json | undefined;
}
