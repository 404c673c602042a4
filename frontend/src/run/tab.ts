// The common interface of a run's tabs.

/** An open tab. */
export interface Tab {
  /** Called after the server-rendered parts were updated. */
  refreshed(): void;
}
