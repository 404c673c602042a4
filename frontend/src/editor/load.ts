//! Loads the editor's data: templates, clusters, names of secrets and volumes.

import { request, type Answer } from "../api/client";
import { learn } from "../api/knowledge";
import { templatesOf, type Templates } from "./templates";

/** The part of a cluster that the form uses. CPUs, bytes, GPUs. */
export interface Place {
  readonly name: string;
  readonly nodes: readonly {
    readonly name: string;
    readonly amount: { readonly cpu: number; readonly memory: number; readonly gpus: number };
    readonly gpus: readonly { readonly name: string; readonly memory: number }[];
    readonly groups: readonly string[];
  }[];
  readonly node_groups: readonly string[];
}

/** The project's resources. */
export interface Surroundings {
  readonly templates: Templates;
  readonly places: readonly Place[];
  /** Names of secrets; null without permission to list them. */
  readonly secrets: readonly string[] | null;
  readonly volumes: readonly string[];
  /** Names of the project's pipelines, first page only. */
  readonly pipelines: readonly string[];
  /** Names of the concurrency limits. */
  readonly limits: readonly string[];
  readonly priorities: readonly string[];
}

/** The value before any response. */
export const NOTHING_YET: Surroundings = { templates: new Map(), places: [], secrets: null, volumes: [], pipelines: [], limits: [], priorities: [] };

/**
 * Loads everything in separate requests, so that one that is slow or fails does not delay the others.
 * `readOnly` is for users who may not list secrets.
 */
export function look(project: string, readOnly: boolean): Promise<Partial<Surroundings>>[] {
  return [
    learn().then((knowledge) => ({ templates: templatesOf(knowledge) })),
    request("GET", "/clusters?limit=200").then((places) => ({ places: places.data.items })),
    names(request("GET", `/projects/${project}/volumes?limit=200`)).then((volumes) => ({ volumes })),
    names(request("GET", `/projects/${project}/pipelines?limit=200`)).then((pipelines) => ({ pipelines })),
    names(request("GET", "/limits")).then((limits) => ({ limits })),
    names(request("GET", "/priority-classes")).then((priorities) => ({ priorities })),
    ...(readOnly ? [] : [names(request("GET", `/projects/${project}/secrets?limit=200`)).then((secrets) => ({ secrets }))]),
  ];
}

async function names(asked: Promise<Answer<{ items: { name: string }[] }>>): Promise<string[]> {
  return (await asked).data.items.map((one) => one.name);
}
