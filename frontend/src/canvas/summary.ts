//! The short summary on a node: its workers with their resources, and special features.

import { local } from "../api/knowledge";
import { duration } from "../core/time";
import { stateWord, t } from "../core/texts";
import type { TemplateInfo, TemplateRole } from "../editor/templates";
import type { LiveTask } from "../editor/store";
import type { Json, JsonObject, Task } from "../graph/document";
import type { TaskProblems } from "./marks";
import type { OutlookMark } from "./outlook";

/** The template's name in the user's language; the name in the task if it is not installed. */
export function templateLabel(task: Task, template: TemplateInfo | undefined): string {
  return template ? local(template.label) : task.template;
}

/** Workers and the resources of each: `2 × 4 CPU, 8Gi, 1 H100`. Empty if it depends only on expressions. */
export function resourcesOf(task: Task, template: TemplateInfo | undefined): string {
  const roles = template?.roles ?? [];
  const largest = roles.at(-1);
  const resources = { ...largest?.resources, ...(largest ? ownOf(task, largest) : {}), ...mapping(task["resources"]) };
  const amounts = [amount(resources["cpu"], "CPU"), amount(resources["memory"]), gpus(resources["gpu"])].filter(Boolean).join(", ");
  const workers = roles.reduce<number | null>((sum, role) => add(sum, replicas(task, template, role)), 0);
  return [workers !== null && workers > 1 ? `${workers} ×` : "", amounts].filter(Boolean).join(" ");
}

/**
 * How many instances `for_each` or `search` creates, if the document determines it; `null` if it has neither.
 */
export function instancesOf(task: Task): string | null {
  const search = mapping(task["search"]);
  if (Object.keys(search).length > 0) return typeof search["trials"] === "number" ? String(search["trials"]) : "n";
  const each = mapping(task["for_each"]);
  if (Object.keys(each).length === 0) return null;
  if (Array.isArray(each["list"])) return String(each["list"].length);
  const matrix = Object.values(mapping(each["matrix"]));
  if (matrix.length > 0 && matrix.every((axis) => Array.isArray(axis))) return String(matrix.reduce<number>((product, axis) => product * (axis as Json[]).length, 1));
  return "n";
}

/** Everything that a node shows, in one sentence for screen readers. */
export function spoken(task: Task, template: TemplateInfo | undefined, live: LiveTask | undefined, problems: TaskProblems | undefined, outlook?: OutlookMark | null): string {
  const needs = task.needs ?? [];
  return [
    task.name,
    templateLabel(task, template),
    live ? stateWord(live.state) : "",
    live?.progress ? `${live.progress.done}/${live.progress.total}` : "",
    live?.instances ? `${live.instances.done}/${live.instances.total}` : "",
    live?.startedAt !== undefined && live.endedAt !== undefined ? duration((live.endedAt - live.startedAt) / 1000) : "",
    live?.attempts !== undefined && live.attempts > 1 ? t("canvas.attempts", { n: live.attempts }) : "",
    live?.reason ?? "",
    ...(outlook ? [outlook.word, ...outlook.why] : []),
    resourcesOf(task, template),
    needs.length > 0 ? t("canvas.said-needs", { tasks: needs.join(", ") }) : t("canvas.said-first"),
    problems ? t("canvas.said-problems", { n: problems.problems.length, first: problems.problems[0]?.message ?? "" }) : "",
  ].filter(Boolean).join(", ");
}

function replicas(task: Task, template: TemplateInfo | undefined, role: TemplateRole): number | null {
  if (typeof role.replicas === "number") return role.replicas;
  const argument = /^\{\{\s*args\.([a-z0-9_]+)\s*\}\}$/.exec(role.replicas)?.[1];
  if (argument === undefined) return null;
  const given = task.arguments?.[argument] ?? template?.parameters.properties?.[argument]?.default;
  return typeof given === "number" ? given : null;
}

function ownOf(task: Task, role: TemplateRole): JsonObject {
  return mapping(mapping(task["role_resources"])[role.name]);
}

function add(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function mapping(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function amount(value: unknown, unit = ""): string {
  if (typeof value !== "string" && typeof value !== "number") return "";
  return String(value).includes("{{") ? "" : [value, unit].filter(Boolean).join(" ");
}

function gpus(value: unknown): string {
  const { count, fraction, memory, type } = mapping(value);
  const much = amount(count ?? fraction ?? memory);
  return much === "" ? "" : `${much} ${typeof type === "string" ? type : "GPU"}`;
}
