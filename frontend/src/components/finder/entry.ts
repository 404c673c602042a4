//! What the finder lists.

/** One entry of the list. */
export interface Entry {
  /** Unique on the page. */
  readonly id: string;
  readonly label: string;
  readonly detail?: string | undefined;
  /** The name of its icon. */
  readonly icon?: string | undefined;
  /** Search terms besides the label, such as an id. */
  readonly words?: string | undefined;
  readonly keys?: readonly string[] | undefined;
  /** Why it is disabled; null if it is enabled. */
  readonly refusal?: string | null;
  /** The address of its page, or what it does. */
  readonly to: string | (() => void);
}

/** Entries of one kind. */
export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
  /** At most this many are shown. */
  readonly most: number;
  /** Whether it is left out until something is typed. */
  readonly quiet?: boolean;
  /** Whether the server has matched and sorted the entries. */
  readonly matched?: boolean;
}
