//! What the editor asks the server for when it opens: templates, places to run, names of secrets and volumes.

import { request, type Answer } from "../api/client";
import { learn } from "../api/knowledge";
import { templatesOf, type Templates } from "./templates";

/** A cluster, as much of it as the form tells. Cores, bytes, cards. */
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

/** What the project has. */
export interface Surroundings {
  readonly templates: Templates;
  readonly places: readonly Place[];
  /** Names of secrets; null for who may not see them. */
  readonly secrets: readonly string[] | null;
  readonly volumes: readonly string[];
  /** Names of the project's pipelines, the first of them. */
  readonly pipelines: readonly string[];
  /** Names of the limits that tasks may name. */
  readonly limits: readonly string[];
  /** Names of the priority classes. */
  readonly priorities: readonly string[];
}

/** Before the answers are there. */
export const NOTHING_YET: Surroundings = { templates: new Map(), places: [], secrets: null, volumes: [], pipelines: [], limits: [], priorities: [] };

/**
 * Asks for all of it; what comes is told one by one, for one answer that is slow or wrong must not keep the others back.
 * `readOnly`: for somebody who may not see secrets.
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
