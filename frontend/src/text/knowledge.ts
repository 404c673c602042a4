//! Knowledge about a position in a text: the template of its task, the applicable schemas.

import type { KnownTemplate, Knowledge } from "../api/knowledge";
import { at, type Schema } from "../graph/schema";
import type { Entry } from "./outline";

/** The value of a key of the document. */
export function valueOf(entries: Entry[], path: (string | number)[]): string | undefined {
  const wanted = path.join("/");
  return entries.find((entry) => entry.path.join("/") === wanted)?.value;
}

/** The template that a task names. */
export function templateOf(knowledge: Knowledge, entries: Entry[], task: number): KnownTemplate | undefined {
  const name = valueOf(entries, ["tasks", task, "template"])?.split("@")[0];
  return name === undefined ? undefined : knowledge.templates[name];
}

/** The schemas at a path; below a task's `arguments` those of its template. */
export function schemasAt(knowledge: Knowledge, entries: Entry[], path: (string | number)[]): Schema[] {
  const [tasks, task, key, ...rest] = path;
  if (tasks === "tasks" && typeof task === "number" && key === "arguments") {
    const template = templateOf(knowledge, entries, task);
    return template ? at(template.parameters, rest) : [];
  }
  return at(knowledge.pipeline, path);
}
