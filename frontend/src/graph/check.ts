//! Immediate checks of a document in the browser: a subset of the server's, with the same codes and paths.
//! tests/shared-cases/document-problems.json tests both.

import { checkArguments } from "./check/arguments";
import { checkEdges } from "./check/edges";
import { checkExpressions } from "./check/expressions";
import { checkTask, isLabel } from "./check/task";
import { isVariable, reserved } from "./check/words";
import type { PipelineDocument, Task } from "./document";
import { mistake, type Finding } from "./finding";
import { listing, nearest } from "./nearest";
import type { Schema } from "./schema";

/** The part of an installed template that the check needs. */
export interface CheckedTemplate {
  /** The newest version, which `parameters` describes. */
  readonly version: string;
  readonly versions: readonly string[];
  readonly parameters: Schema;
}

export type CheckedTemplates = ReadonlyMap<string, CheckedTemplate>;

/**
 * Every problem that can be found without the server; with `templates: null`, those that need no templates.
 */
export function check(document: PipelineDocument, templates: CheckedTemplates | null): Finding[] {
  const findings = [...head(document)];
  const edges = checkEdges(document, findings);
  for (const [name, parameter] of Object.entries(document.parameters ?? {})) {
    if (!isVariable(name)) findings.push(mistake("invalid_name", `/parameters/${name}`, /* text */ "graph.parameter-name", { name }));
    if (typeof parameter === "object" && parameter !== null && !("type" in parameter)) findings.push(mistake("missing_key", `/parameters/${name}`, /* text */ "graph.missing-key", { key: "type" }));
  }
  reserved("", document["env"], findings);
  document.tasks.forEach((task, at) => { findings.push(...alone(task, at, templates)); });
  checkExpressions(document, edges, findings);
  return findings;
}

// Most tasks are the same object as at the previous check.
const known = new WeakMap<Task, { at: number; templates: CheckedTemplates | null; findings: Finding[] }>();

/** The problems of a single task. */
function alone(task: Task, at: number, templates: CheckedTemplates | null): Finding[] {
  const before = known.get(task);
  if (before?.at === at && before.templates === templates) return before.findings;
  const findings: Finding[] = [];
  checkTask(task, at, findings);
  if (templates) {
    template(task.template, at, templates, findings);
    const [name = "", version] = task.template.split("@");
    const found = templates.get(name);
    if (found && (version ?? found.version) === found.version) checkArguments(found.parameters, task.arguments ?? {}, `/tasks/${at}/arguments`, findings);
  }
  known.set(task, { at, templates, findings });
  return findings;
}

function head(document: PipelineDocument): Finding[] {
  const found: Finding[] = [];
  for (const [key, expected] of [["apiVersion", "cubeloom/v1"], ["kind", "Pipeline"]] as const) {
    const value: unknown = document[key];
    if (value === undefined || value === null) found.push(mistake("missing_key", "", /* text */ "graph.missing-key", { key }));
    else if (value !== expected) found.push(mistake("unknown_version", `/${key}`, /* text */ "graph.unknown-version", { found: JSON.stringify(value), expected }));
  }
  if (document.name === "") found.push(mistake("missing_key", "", /* text */ "graph.missing-key", { key: "name" }));
  else isLabel(document.name, "/name", found);
  if (document.tasks.length === 0) found.push(mistake("invalid_value", "/tasks", /* text */ "graph.no-tasks"));
  return found;
}

function template(reference: string, at: number, templates: CheckedTemplates, findings: Finding[]): void {
  const [name = "", version] = reference.split(/@(.*)/s);
  if (reference.trim() === "") return;
  const known = templates.get(name);
  const path = `/tasks/${at}/template`;
  if (!known) {
    const near = nearest(name, templates.keys());
    findings.push(
      near === undefined
        ? mistake("unknown_template", path, /* text */ "graph.unknown-template", { name, known: listing(templates.keys()) })
        : mistake("unknown_template", path, /* text */ "graph.unknown-template-near", { name, near }),
    );
  } else if (version !== undefined && !known.versions.includes(version)) {
    findings.push(mistake("unknown_template", path, /* text */ "graph.unknown-template-version", { name, version, known: listing(known.versions) }));
  }
}

