//! Completion: keys, allowed values, templates, tasks, and names inside `{{ }}`.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { local, type Knowledge } from "../api/knowledge";
import { schemasAt, templateOf, valueOf } from "./knowledge";
import { outline, placeAt, type Entry, type Place } from "./outline";
import { choices, typeOf } from "../graph/schema";

/** Completions at the cursor. */
export function completing(knowledge: Knowledge) {
  return (context: CompletionContext): CompletionResult | null => {
    const text = context.state.doc.toString();
    const before = text.slice(0, context.pos);
    const expression = /\{\{[^}]*?([\w.-]*)$/.exec(before.slice(before.lastIndexOf("\n") + 1));
    if (expression) return within(outline(text), knowledge, context.pos, expression[1] ?? "");
    const place = placeAt(before);
    if (!place) return null;
    const word = /[\w./@-]*$/.exec(place.word)?.[0] ?? "";
    if (word === "" && !context.explicit && !/[\s[{,]$/.test(before)) return null;
    const options = place.value ? values(place, knowledge, text) : [...keys(place, knowledge, text), ...elements(place, text)];
    if (options.length === 0) return null;
    return { from: context.pos - word.length, options, validFor: /^[\w./@-]*$/ };
  };
}

function keys(place: Place, knowledge: Knowledge, text: string): Completion[] {
  const entries = outline(text);
  const own = place.path.join("/");
  const there = new Set(entries.filter((entry) => entry.path.slice(0, -1).join("/") === own).map((entry) => entry.path.at(-1)));
  const found: Completion[] = [];
  for (const schema of schemasAt(knowledge, entries, place.path)) {
    for (const name of Object.keys(schema.properties ?? {})) {
      if (there.has(name) && name !== place.word) continue;
      const inner = schemasAt(knowledge, entries, [...place.path, name]);
      const info = inner[0]?.description ?? inner[0]?.title;
      const boost = schema.required?.includes(name) ? 2 : 0;
      found.push({ label: name, type: "property", detail: typeOf(inner), apply: `${name}: `, boost, ...(info ? { info } : {}) });
    }
  }
  return found;
}

function values(place: Place, knowledge: Knowledge, text: string): Completion[] {
  const [tasks, , key] = place.path;
  if (tasks === "tasks" && key === "template" && place.path.length === 3) {
    return Object.entries(knowledge.templates).map(([name, template]) => ({
      label: name, type: "class", detail: local(template.label), info: local(template.help).split("\n\n")[0] ?? "",
    }));
  }
  const needs = elements(place, text);
  if (needs.length > 0) return needs;
  return choices(schemasAt(knowledge, outline(text), place.path)).map((label) => ({ label, type: "enum" }));
}

/** The other tasks, in a task's dependencies. */
function elements(place: Place, text: string): Completion[] {
  const [tasks, task, key] = place.path;
  if (tasks !== "tasks" || key !== "needs") return [];
  return taskNames(outline(text), Number(task)).map((label) => ({ label, type: "variable" }));
}

function taskNames(entries: Entry[], without: number): string[] {
  const named = entries.filter(({ path }) => path.length === 3 && path[0] === "tasks" && path[2] === "name");
  return named.filter(({ path }) => path[1] !== without).map((entry) => entry.value);
}

const RUN = ["id", "date", "date_utc", "timestamp", "dir", "project", "user"];

/** Names inside an expression. */
function within(entries: Entry[], knowledge: Knowledge, position: number, word: string): CompletionResult {
  const parameters = entries.filter(({ path }) => path.length === 2 && path[0] === "parameters").map(({ path }) => `params.${String(path[1])}`);
  const outputs = entries.flatMap(({ path, value }) => {
    if (path.length !== 3 || path[0] !== "tasks" || path[2] !== "name" || typeof path[1] !== "number") return [];
    const declared = valueOf(entries, ["tasks", path[1], "outputs"])?.match(/[\w-]+/g) ?? [];
    const reported = templateOf(knowledge, entries, path[1])?.outputs?.map((output) => output.name) ?? [];
    const names = [...new Set([...declared, ...reported])];
    const task = /^[A-Za-z_]\w*$/.test(value) ? `tasks.${value}` : `tasks['${value}']`;
    return names.length > 0 ? names.map((name) => `${task}.outputs.${name}`) : [`${task}.outputs.`];
  });
  const labels = [...parameters, ...RUN.map((name) => `run.${name}`), "item", ...outputs];
  return { from: position - word.length, options: labels.map((label) => ({ label, type: "variable" })), validFor: /^[\w.'[\]-]*$/ };
}
