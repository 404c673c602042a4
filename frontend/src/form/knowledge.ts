//! What the form is told of the project, beside templates and places.

/** What the project has. */
export interface Knowledge {
  readonly project: string;
  /** Names of secrets; null for who may not see them. */
  readonly secrets: readonly string[] | null;
  readonly volumes: readonly string[];
  /** Names of pipelines, the first of them. */
  readonly pipelines: readonly string[];
  /** Names of the limits that there are. */
  readonly limits: readonly string[];
  /** Names of the priority classes. */
  readonly priorities: readonly string[];
  /** The digest of the pipeline's folder of code; null when it has none. */
  readonly code: string | null;
  /** Whether the pipeline is stored, so that its name stays. */
  readonly stored: boolean;
}
