// What the tabs of a run have in common.

/** A tab that is open. */
export interface Tab {
  /** The parts that the server renders are up to date. */
  refreshed(): void;
}
