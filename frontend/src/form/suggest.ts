//! What an expression can name where the caret is.

import { t } from "../core/texts";
import type { Task } from "../graph/document";
import type { Path } from "../graph/edit";
import type { FormState } from "./context";
import { isMapping, pointer } from "./path";

/** Something that can be put in. */
export interface Suggestion {
  readonly label: string;
  readonly detail?: string;
}

/** What can be put in, and which part of the text it replaces. */
export interface Suggestions {
  readonly from: number;
  readonly to: number;
  readonly options: readonly Suggestion[];
}

const RUN = ["id", "date", "timestamp", "user", "project", "dir"];
const FILTERS = ["default", "lower", "upper", "trim", "replace", "split", "join", "length", "first", "last", "min", "max", "sum", "sort", "reverse", "unique", "list", "int", "float", "string", "round", "abs", "times", "tojson", "days", "hours", "format"];
const MOST = 60;

// Fields whose whole text is an expression.
const BARE: ReadonlySet<string> = new Set(["/when", "/for_each/from"]);

/** Suggestions at a caret; null where no expression is, or nothing fits. Unless `asked`, a word must have been begun. */
export function suggest(form: FormState, path: Path, text: string, caret: number, asked: boolean): Suggestions | null {
  const bare = BARE.has(pointer(path)) && !text.includes("{{");
  const before = text.slice(0, caret);
  const open = bare ? 0 : before.lastIndexOf("{{") + 2;
  if (!bare && (open < 2 || before.indexOf("}}", open) >= 0)) return null;
  const inside = before.slice(open);
  const word = /[\w.'[\]-]*$/.exec(inside)?.[0] ?? "";
  if (word === "" && bare && !asked) return null;
  const afterBar = /\|\s*[\w]*$/.test(inside);
  const all = afterBar ? FILTERS.map((label) => ({ label, detail: t("form.filter") })) : names(form);
  const lower = word.toLowerCase();
  const fitting = all.filter(({ label }) => label !== word && label.toLowerCase().includes(lower));
  const first = fitting.filter(({ label }) => label.toLowerCase().startsWith(lower));
  const options = [...first, ...fitting.filter((one) => !first.includes(one))].slice(0, MOST);
  return options.length > 0 ? { from: caret - word.length, to: caret, options } : null;
}

function names(form: FormState): Suggestion[] {
  const { document, tasks } = form;
  const parameters = Object.entries(document.parameters ?? {}).map(([name, declared]) => ({
    label: `params.${name}`, detail: isMapping(declared) && typeof declared["type"] === "string" ? declared["type"] : "",
  }));
  const [task] = tasks;
  const item = task?.["for_each"] === undefined ? [] : [{ label: "item", detail: t("form.item") }];
  const outputs = task ? upstream(document.tasks, task).flatMap((one) => outputsOf(form, one)) : [];
  return [...item, ...parameters, ...outputs, ...RUN.map((name) => ({ label: `run.${name}`, detail: t("form.of-the-run") })), { label: "workspace" }, { label: "code" }, ...(task ? [{ label: "task.name" }] : [])];
}

function upstream(all: readonly Task[], task: Task): Task[] {
  const byName = new Map(all.map((one) => [one.name, one]));
  const found = new Map<string, Task>();
  const open = [...(task.needs ?? [])];
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    const one = byName.get(name);
    if (!one || found.has(name) || one === task) continue;
    found.set(name, one);
    open.push(...(one.needs ?? []));
  }
  return [...found.values()];
}

function outputsOf({ templates }: FormState, task: Task): Suggestion[] {
  const reported = templates.get(task.template.split("@")[0] ?? "")?.outputs ?? [];
  const declared = Array.isArray(task["outputs"]) ? task["outputs"].filter((one) => typeof one === "string") : [];
  const described = new Map(reported.map((output) => [output.name, output.description ?? ""]));
  for (const name of declared) if (!described.has(name)) described.set(name, "");
  const reference = /^[A-Za-z_]\w*$/.test(task.name) ? `tasks.${task.name}` : `tasks['${task.name}']`;
  if (described.size === 0) return [{ label: `${reference}.outputs.`, detail: "" }];
  return [...described].map(([name, detail]) => ({ label: `${reference}.outputs.${name}`, detail }));
}
