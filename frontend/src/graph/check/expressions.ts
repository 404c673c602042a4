//! Checks expressions: they must be terminated, name existing things, and use only values that are known by
//! then. Errors that only an evaluation shows are left to the server.

import type { Json, PipelineDocument, Task } from "../document";
import type { Path } from "../edits/fields";
import { isMapping } from "../equal";
import { expressionsIn, hasExpression, scan, type Scanned } from "../expression";
import { mistake, pointer, type Finding } from "../finding";
import { listing, nearest } from "../nearest";
import { isBare, visitStrings } from "../strings";
import type { Edges } from "./edges";

/** The members of `run`. */
export const RUN_NAMES = ["id", "date", "date_utc", "timestamp", "project", "user", "dir"] as const;

/** Where an expression is: in a field evaluated at planning time, or in a task's late fields. */
type Place = "early" | { readonly at: number; readonly item: boolean };

export function checkExpressions(document: PipelineDocument, edges: Edges, findings: Finding[]): void {
  new Checker(document, edges, findings).all();
}

class Checker {
  readonly #used = new Set<string>();
  readonly #declared: ReadonlySet<string>;

  constructor(
    private readonly document: PipelineDocument,
    private readonly edges: Edges,
    private readonly findings: Finding[],
  ) {
    this.#declared = new Set(Object.keys(document.parameters ?? {}));
  }

  all(): void {
    for (const [name, parameter] of Object.entries(this.document.parameters ?? {})) {
      const text = isMapping(parameter) ? parameter["default"] : undefined;
      if (typeof text === "string") this.#default(text, `/parameters/${name}/default`);
    }
    const env = this.document["env"];
    for (const [name, text] of Object.entries(isMapping(env) ? env : {})) if (typeof text === "string") this.#expressions(readText(text, false), pointer(["env", name]), "early");
    this.document.tasks.forEach((task, at) => {
      for (const { read, path } of stringsOf(task)) this.#expressions(read, pointer(["tasks", at, ...path]), placeOf(task, at, path));
    });
    for (const name of this.#declared) {
      if (!this.#used.has(name)) this.findings.push({ ...mistake("suspicious", pointer(["parameters", name]), /* text */ "graph.parameter-unused", { name }), severity: "warning" });
    }
  }

  /** A parameter's default may only use `run`: parameters have no order. */
  #default(text: string, path: string): void {
    for (const scanned of this.#sound(readText(text, false), path)) {
      const root = scanned.names.find((name) => name.root !== "run")?.root;
      if (root) this.findings.push(mistake("undefined_name", path, /* text */ "graph.default-run-only", { root }));
    }
  }

  #expressions(read: ReadText, path: string, place: Place): void {
    for (const scanned of this.#sound(read, path)) this.#expression(scanned, path, place);
  }

  /** The expressions of a text; none if one of them is invalid, which is reported. */
  #sound(read: ReadText, path: string): readonly Scanned[] {
    if (read.wrong) this.findings.push(mistake("invalid_expression", path, read.wrong.words, read.wrong.values));
    return read.wrong ? [] : read.scanned;
  }

  #expression(scanned: Scanned, path: string, place: Place): void {
    const members = (root: string) => scanned.names.filter((name) => name.root === root).map((name) => name.member);
    const roots = new Set(scanned.names.map((name) => name.root));
    for (const root of roots) {
      const found = this.#root(root, members(root), scanned, place, path);
      if (found) this.findings.push(found);
    }
  }

  #root(root: string, members: readonly (string | undefined)[], scanned: Scanned, place: Place, path: string): Finding | undefined {
    switch (root) {
      case "params":
        return this.#params(members, path);
      case "run": {
        const name = members.find((member) => member !== undefined && !(RUN_NAMES as readonly string[]).includes(member));
        return name === undefined ? undefined : mistake("undefined_name", path, /* text */ "graph.run-name", { name, known: RUN_NAMES.join(", ") });
      }
      case "task": {
        const name = members.find((member) => member !== undefined && member !== "name");
        return name === undefined ? undefined : mistake("undefined_name", path, /* text */ "graph.task-member", { name });
      }
      case "args":
        return mistake("undefined_name", path, /* text */ "graph.unknown-root", { root });
      case "item":
      case "tasks":
        if (place === "early") return mistake("output_not_available", path, /* text */ "graph.not-known-here", { root });
        if (root === "tasks") return this.#reads(scanned, place.at, path);
        return place.item ? undefined : mistake("undefined_name", path, /* text */ "graph.item-alone");
      default:
        return undefined;
    }
  }

  #params(members: readonly (string | undefined)[], path: string): Finding | undefined {
    if (members.includes(undefined)) for (const name of this.#declared) this.#used.add(name);
    let wrong: Finding | undefined;
    for (const name of members) {
      if (name === undefined) continue;
      this.#used.add(name);
      if (this.#declared.has(name)) continue;
      const near = nearest(name, this.#declared);
      wrong ??= near === undefined
        ? mistake("undefined_name", path, /* text */ "graph.unknown-parameter", { name, known: listing(this.#declared) })
        : mistake("undefined_name", path, /* text */ "graph.unknown-parameter-near", { name, near });
    }
    return wrong;
  }

  /** Outputs may only be read from tasks that have ended by then. */
  #reads(scanned: Scanned, at: number, path: string): Finding | undefined {
    for (const { task } of scanned.reads) {
      const before = this.edges.find(task);
      if (before === undefined) return this.edges.unknown(task, path);
      if (before === at || !this.edges.isBefore(before, at)) return mistake("output_not_available", path, /* text */ "graph.output-not-available", { name: task });
    }
    return undefined;
  }
}

/** The names in a text's expressions; or the error in one of them, as text for `mistake`. */
interface ReadText {
  readonly scanned: readonly Scanned[];
  readonly wrong?: { readonly words: string; readonly values?: Readonly<Record<string, string>> };
}

const SOUND: ReadText = { scanned: [] };

function readText(text: string, bare: boolean): ReadText {
  if (!bare && !hasExpression(text)) return SOUND;
  const inner = bare && !hasExpression(text) ? [{ source: text, closed: true }] : expressionsIn(text);
  const open = inner.find((expression) => !expression.closed);
  if (open) return { scanned: [], wrong: { words: /* text */ "graph.expression-open", values: { shown: open.source.slice(0, 30) } } };
  const scanned = inner.map(({ source }) => ({ source, ...scan(source) }));
  const wrong = scanned.find((one) => one.wrong !== undefined || one.source.trim() === "");
  if (!wrong) return { scanned };
  const words = wrong.wrong === "times" ? /* text */ "graph.expression-times" : wrong.wrong === "tasks" ? /* text */ "graph.expression-tasks" : /* text */ "graph.expression-empty";
  return { scanned: [], wrong: { words } };
}

// Most tasks are the same object as at the previous check.
const strings = new WeakMap<Task, { read: ReadText; path: Path }[]>();

/** The strings of a task that contain expressions. */
function stringsOf(task: Task): readonly { read: ReadText; path: Path }[] {
  const known = strings.get(task);
  if (known) return known;
  const found: { read: ReadText; path: Path }[] = [];
  visitStrings(task, (text, path) => {
    if (isBare(path) || hasExpression(text)) found.push({ read: readText(text, isBare(path)), path });
  });
  strings.set(task, found);
  return found;
}

/** What a field of a task may read. */
export function placeOf(task: Task, at: number, path: Path): Place {
  const [field, part] = path;
  if (field === "setup" || field === "cache" || field === "search" || (field === "for_each" && part !== "from")) return "early";
  const isGiven = (value: Json | undefined) => value !== undefined && value !== null;
  return { at, item: field !== "for_each" && (isGiven(task["for_each"]) || isGiven(task["search"])) };
}
