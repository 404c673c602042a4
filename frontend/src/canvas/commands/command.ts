//! A command: one thing that can be done on the canvas, by a key, from a menu or from the list of all commands.

import type { Stage } from "../stage";

/** Where it is listed. */
export type Group = "add" | "edit" | "select" | "arrange" | "view" | "help";

/** One command. */
export interface Command {
  readonly id: string;
  readonly group: Group;
  /** The key of its text. */
  readonly label: string;
  /**
   * Keys that do it, the first is shown: `Mod+d`, `f`, `?`. `Mod` is Ctrl, on a Mac the command key. A key in brackets
   * is shown only: the browser itself sends the event.
   */
  readonly keys?: readonly string[];
  /** Why it cannot be done now; null when it can. */
  readonly refusal?: (stage: Stage) => string | null;
  readonly perform: (stage: Stage) => void;
}
