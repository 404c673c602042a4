//! A command: an action on the canvas, by key, from a menu or from the command palette.

import type { Stage } from "../stage";

/** Its section in the list. */
export type Group = "add" | "edit" | "select" | "arrange" | "view" | "help";

export interface Command {
  readonly id: string;
  readonly group: Group;
  /** The text key of its label. */
  readonly label: string;
  /**
   * Shortcuts, of which the first is shown: `Mod+d`, `f`, `?`. `Mod` is Ctrl, on a Mac the command key. A
   * shortcut in brackets is only shown: the browser itself sends the event.
   */
  readonly keys?: readonly string[];
  /** Why it is disabled now; null if it is enabled. */
  readonly refusal?: (stage: Stage) => string | null;
  readonly perform: (stage: Stage) => void;
}
