//! What the form is told of the project and of where its tasks run.

import type { ParameterSchema } from "./schema/read";
import type { Json } from "../graph/document";

/** What the form needs to know of a task template; its newest version unless a task names another. */
export interface FormTemplate {
  readonly name: string;
  readonly version: string;
  readonly versions: readonly string[];
  readonly group: string;
  readonly label: { readonly en: string; readonly zh: string };
  readonly help: { readonly en: string; readonly zh: string };
  readonly framework: string;
  readonly parameters: ParameterSchema;
  readonly roles: readonly FormRole[];
  readonly outputs: readonly { readonly name: string; readonly description?: string }[];
}

/** A role of a template; replicas and amounts may be expressions. */
export interface FormRole {
  readonly name: string;
  readonly replicas: Json;
  readonly resources?: Readonly<Record<string, Json>> | null;
}

/** What the project has. */
export interface Knowledge {
  readonly project: string;
  /** Names of secrets; null for who may not see them. */
  readonly secrets: readonly string[] | null;
  readonly volumes: readonly string[];
  /** The digest of the pipeline's folder of code; null when it has none. */
  readonly code: string | null;
  /** Whether the pipeline is stored, so that its name stays. */
  readonly stored: boolean;
}

/** A cluster, as much of it as a form shows. Cores, bytes, cards. */
export interface Place {
  readonly name: string;
  readonly nodes: readonly { readonly name: string; readonly amount: { cpu: number; memory: number; gpus: number }; readonly gpus: readonly { name: string; memory: number }[] }[];
  readonly node_groups: readonly string[];
}
