//! All commands, in the order in which they are listed.

import { ADD } from "./add";
import { ARRANGE } from "./arrange";
import type { Command } from "./command";
import { EDIT } from "./edit";
import { VIEW } from "./view";

/** The commands. */
export const COMMANDS: readonly Command[] = [...ADD, ...EDIT, ...ARRANGE, ...VIEW];

/** A command by its id. */
export function commandOf(id: string): Command {
  const found = COMMANDS.find((command) => command.id === id);
  if (!found) throw new Error(`there is no command ${id}`);
  return found;
}
