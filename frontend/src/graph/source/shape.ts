//! Converts a parsed value to a pipeline document if it can be drawn: tasks have names, needs are lists of
//! names, and so on. The check and the server cover the rest.

import type { Json, JsonObject, PipelineDocument, Task } from "../document";
import { mistake, pointer, type Finding } from "../finding";
import type { Path } from "../edits/fields";

const TASK_MAPPINGS = ["arguments", "env", "resources", "role_resources", "retry", "for_each", "search", "placement", "elastic"];
const TASK_LISTS = ["needs", "setup", "secrets", "volumes", "limits", "outputs"];
const PIPELINE_MAPPINGS = ["labels", "parameters", "env", "schedule", "placement", "canvas"];

/** The document, or the problems that prevent it. */
export function documentOf(value: Json): { document: PipelineDocument | undefined; findings: Finding[] } {
  const shape = new Shape();
  const document = shape.pipeline(value);
  return { document: shape.findings.length > 0 ? undefined : document, findings: shape.findings };
}

class Shape {
  readonly findings: Finding[] = [];

  pipeline(value: Json): PipelineDocument | undefined {
    if (!this.#is(value, [], "mapping")) return undefined;
    const root = present(value as JsonObject);
    const tasks = root["tasks"];
    if (tasks === undefined) this.#missing([], "tasks");
    for (const key of PIPELINE_MAPPINGS) if (root[key] !== undefined) this.#is(root[key], [key], "mapping");
    for (const [name, parameter] of Object.entries(isMapping(root["parameters"]) ? root["parameters"] : {})) this.#is(parameter, ["parameters", name], "mapping");
    if (isMapping(root["canvas"])) this.#canvas(root["canvas"]);
    if (tasks === undefined || !this.#is(tasks, ["tasks"], "list")) return undefined;
    const read = (tasks as readonly Json[]).map((task, at) => this.#task(task, at));
    const name = typeof root["name"] === "string" ? root["name"] : "";
    return { ...root, name, tasks: read as Task[] } as unknown as PipelineDocument;
  }

  #task(value: Json, at: number): JsonObject {
    const path = ["tasks", at];
    if (!this.#is(value, path, "mapping")) return {};
    const task = present(value as JsonObject);
    for (const key of ["name", "template"]) {
      if (task[key] === undefined) this.#missing(path, key);
      else this.#is(task[key], [...path, key], "text");
    }
    for (const key of TASK_MAPPINGS) if (task[key] !== undefined) this.#is(task[key], [...path, key], "mapping");
    for (const key of TASK_LISTS) if (task[key] !== undefined) this.#is(task[key], [...path, key], "list");
    if (Array.isArray(task["needs"])) task["needs"].forEach((need: Json, index) => this.#is(need, [...path, "needs", index], "text"));
    return task;
  }

  #canvas(canvas: JsonObject): void {
    for (const part of ["positions", "frames", "notes"]) {
      if (canvas[part] === undefined || !this.#is(canvas[part], ["canvas", part], "mapping")) continue;
      for (const [key, one] of Object.entries(canvas[part] as JsonObject)) {
        const path = ["canvas", part, key];
        if (part === "positions") this.#is(one, path, "point");
        else if (this.#is(one, path, "mapping")) this.#item(one as JsonObject, part, path);
      }
    }
  }

  #item(item: JsonObject, part: string, path: Path): void {
    const fields = part === "frames" ? ([["title", "text"], ["tasks", "list"]] as const) : ([["text", "text"], ["at", "point"], ["size", "point"]] as const);
    for (const [key, kind] of fields) {
      if (item[key] === undefined) this.#missing(path, key);
      else this.#is(item[key], [...path, key], kind);
    }
  }

  #missing(path: Path, key: string): void {
    this.findings.push(mistake("missing_key", pointer(path), /* text */ "graph.missing-key", { key }));
  }

  #is(value: Json, path: Path, kind: "mapping" | "list" | "text" | "point"): boolean {
    const holds = { mapping: isMapping(value), list: Array.isArray(value), text: typeof value === "string", point: isPoint(value) }[kind];
    if (!holds) this.findings.push(mistake("wrong_type", pointer(path), EXPECTED[kind]));
    return holds;
  }
}

const EXPECTED = {
  mapping: /* text */ "graph.expected-mapping",
  list: /* text */ "graph.expected-list",
  text: /* text */ "graph.expected-text",
  point: /* text */ "graph.expected-point",
};

/** A key without a value counts as absent. */
function present(mapping: JsonObject): Record<string, Json> {
  return Object.fromEntries(Object.entries(mapping).filter(([, value]) => value !== null));
}

function isMapping(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPoint(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === "number");
}
