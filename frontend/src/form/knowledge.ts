//! The project's data for the form, besides templates and clusters.

/** The project's resources. */
export interface Knowledge {
  readonly project: string;
  /** Names of secrets; null without permission to list them. */
  readonly secrets: readonly string[] | null;
  readonly volumes: readonly string[];
  /** Names of pipelines, first page only. */
  readonly pipelines: readonly string[];
  /** Names of the concurrency limits. */
  readonly limits: readonly string[];
  readonly priorities: readonly string[];
  /** The digest of the pipeline's code folder; null if it has none. */
  readonly code: string | null;
  /** Whether the pipeline is stored, so that its name is fixed. */
  readonly stored: boolean;
}
