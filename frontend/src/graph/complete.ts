//! Completions for an expression at a position of the document.

import { placeOf, RUN_NAMES } from "./check/expressions";
import { ancestors } from "./cycle";
import type { PipelineDocument, Task } from "./document";
import { taskOf } from "./document";
import type { Path } from "./edits/fields";
import { equal, isMapping } from "./equal";
import { endOfString, expressionsIn, hasExpression } from "./expression";
import { isBare } from "./strings";

/** The part of a template that completion needs. */
export interface ReportingTemplate {
  readonly outputs: readonly { readonly name: string; readonly description?: string }[];
}

/** The edited field: of a task, or (without one) of the pipeline itself. */
export interface Field {
  readonly document: PipelineDocument;
  readonly task: string | undefined;
  readonly path: Path;
  readonly templates: ReadonlyMap<string, ReportingTemplate>;
}

/** One completion. `detail` comes from the document or a template, `text` is a key of texts/graph.json. */
export interface Candidate {
  readonly label: string;
  readonly kind: "parameter" | "output" | "run" | "item" | "task" | "folder" | "filter" | "function";
  readonly detail?: string;
  readonly text?: string;
}

/** The replacements for the text from `from` to `to`. */
export interface Completion {
  readonly from: number;
  readonly to: number;
  /** Whether the expression has its `}}` (or needs none). */
  readonly closed: boolean;
  readonly options: readonly Candidate[];
}

/**
 * The completions at an offset of a field's text; `undefined` outside of expressions and inside string
 * literals.
 */
export function candidates(field: Field, text: string, offset: number): Completion | undefined {
  const bare = isBare(field.path) && !hasExpression(text);
  const around = bare ? { from: 0, closed: true } : expressionsIn(text).findLast(({ from, to }) => from <= offset && offset <= to);
  if (!around) return undefined;
  const before = text.slice(around.from, offset);
  if (endsInString(before)) return undefined;
  const filter = /\|\s*(\w*)$/.exec(before);
  const word = filter?.[1] ?? /(?:[A-Za-z_][\w-]*(?:\.[\w-]*|\[(?:'[^']*'?|"[^"]*"?)\]?)*)?$/.exec(before)?.[0] ?? "";
  // A member of something unknown: `(a + b).x`.
  if (!filter && word === "" && /[.\d)\]]$/.test(before)) return undefined;
  const rest = filter ? /^\w*/ : /^[\w-]*/;
  const to = offset + (rest.exec(text.slice(offset))?.[0].length ?? 0);
  const options = matching(filter ? FILTERS : names(field), word);
  return { from: offset - word.length, to, closed: around.closed, options };
}

function endsInString(before: string): boolean {
  for (let at = 0; at < before.length; at += 1) {
    if (!/["']/.test(before.charAt(at))) continue;
    // `tasks['` is completed as a whole.
    const inBrackets = before.charAt(at - 1) === "[";
    const end = endOfString(before, at);
    if (end >= before.length) return !inBrackets;
    at = end;
  }
  return false;
}

/** Prefix matches first, then substring matches. */
function matching(all: readonly Candidate[], word: string): Candidate[] {
  const wanted = plain(word);
  const begins = all.filter(({ label }) => plain(label).startsWith(wanted));
  return [...begins, ...all.filter((one) => !begins.includes(one) && plain(one.label).includes(wanted))];
}

function plain(label: string): string {
  return label.toLowerCase().replace(/\[["']?|["']?\]/g, (sign) => (sign.startsWith("[") ? "." : ""));
}

/** All names available in a field. */
function names({ document, task: name, path, templates }: Field): Candidate[] {
  const task = name === undefined ? undefined : taskOf(document, name);
  const place = task ? placeOf(task, 0, path) : "early";
  const isDefault = !task && path[0] === "parameters";
  const run = RUN_NAMES.filter((member) => member !== "dir" || hasFolders(path)).map((member): Candidate => ({ label: `run.${member}`, kind: "run", text: RUN_TEXTS[member] }));
  if (isDefault) return run;
  return [
    ...(place !== "early" && place.item && task ? items(task) : []),
    ...Object.entries(document.parameters ?? {}).map(([parameter, declared]): Candidate => ({ label: member("params", parameter), kind: "parameter", ...detail(declaredAs(declared)) })),
    ...(place !== "early" && task ? outputs(document, task, templates) : []),
    ...(path[0] === "when" && task ? states(document, task) : []),
    ...run,
    ...(task ? [{ label: "task.name", kind: "task" as const, text: /* text */ "graph.names-task" }] : []),
    ...(hasFolders(path) ? FOLDERS : []),
    { label: "range()", kind: "function", detail: "range(start, stop, step)" },
  ];
}

/** Whether folder names are available: only where a worker runs. */
function hasFolders([field]: Path): boolean {
  return field === "arguments" || field === "env" || field === "cache";
}

function outputs(document: PipelineDocument, task: Task, templates: Field["templates"]): Candidate[] {
  const before = ancestors(document, task.name);
  return document.tasks.filter(({ name }) => before.has(name) && name !== task.name).flatMap((one): Candidate[] => {
    const reported = templates.get(one.template.split("@")[0] ?? "")?.outputs ?? [];
    const required = Array.isArray(one["outputs"]) ? one["outputs"].filter((output) => typeof output === "string") : [];
    const all = new Map<string, string | undefined>([...required.map((output) => [output, undefined] as const), ...reported.map(({ name, description }) => [name, description] as const)]);
    // A name may contain `-`: the server parses it as one name after `tasks.`.
    const start = /^[\w-]+$/.test(one.name) ? `tasks.${one.name}.outputs` : `tasks["${one.name}"].outputs`;
    const best: Candidate[] = isMapping(one["search"]) ? [{ label: member(start, "best"), kind: "output", text: /* text */ "graph.names-best" }] : [];
    if (all.size === 0 && best.length > 0) return best;
    if (all.size === 0) return [{ label: `${start}.`, kind: "output", ...detail(one.template) }];
    return [...best, ...[...all].map(([output, description]) => ({ label: member(start, output), kind: "output" as const, ...detail(description ?? one.template) }))];
  });
}

/** The states of the tasks before one, for its condition. */
function states(document: PipelineDocument, task: Task): Candidate[] {
  const before = ancestors(document, task.name);
  const names = document.tasks.map(({ name }) => name).filter((name) => before.has(name) && name !== task.name);
  const label = (name: string) => (/^[\w-]+$/.test(name) ? `tasks.${name}.state` : `tasks["${name}"].state`);
  return names.map((name) => ({ label: label(name), kind: "output", text: /* text */ "graph.names-state" }));
}

function items(task: Task): Candidate[] {
  const [each, search] = [task["for_each"], task["search"]];
  const { matrix, list } = isMapping(each) ? each : {};
  const over = isMapping(search) ? search["over"] : undefined;
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  const keys = isMapping(over) ? Object.keys(over) : isMapping(matrix) ? Object.keys(matrix) : isMapping(first) ? Object.keys(first) : [];
  return [{ label: "item", kind: "item", text: /* text */ "graph.names-item" }, ...keys.map((key): Candidate => ({ label: member("item", key), kind: "item" }))];
}

function member(root: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${root}.${name}` : `${root}["${name}"]`;
}

function declaredAs(parameter: unknown): string {
  if (!isMapping(parameter)) return "";
  const type = typeof parameter["type"] === "string" ? parameter["type"] : "";
  return equal(parameter["default"], undefined) ? type : `${type} = ${JSON.stringify(parameter["default"])}`;
}

function detail(text: string): { detail?: string } {
  return text === "" ? {} : { detail: text };
}

const RUN_TEXTS: Readonly<Record<(typeof RUN_NAMES)[number], string>> = {
  id: /* text */ "graph.names-run-id",
  date: /* text */ "graph.names-run-date",
  date_utc: /* text */ "graph.names-run-date-utc",
  timestamp: /* text */ "graph.names-run-timestamp",
  project: /* text */ "graph.names-run-project",
  user: /* text */ "graph.names-run-user",
  dir: /* text */ "graph.names-run-dir",
};

const FOLDERS: readonly Candidate[] = [
  { label: "workspace", kind: "folder", text: /* text */ "graph.names-workspace" },
  { label: "code", kind: "folder", text: /* text */ "graph.names-code" },
];

const FILTERS: readonly Candidate[] = [
  "default(value)", "lower", "upper", "trim", "replace(old, new)", "split(by)", "join(by)", "length", "first", "last", "min", "max", "sum", "sort", "reverse",
  "unique", "list", "items", "map(attribute=name)", "select(test)", "reject(test)", "selectattr(name)", "rejectattr(name)", "int", "float", "string", "bool",
  "round", "abs", "times(n)", "tojson", "days(n)", "weeks(n)", "months(n)", "hours(n)", "minutes(n)", "days_until(date)", "timezone('Asia/Shanghai')", "format('%Y/%m/%d')",
].map((form) => ({ label: form.replace(/\(.*/, ""), kind: "filter" as const, ...(form.includes("(") ? { detail: form } : {}) }));
