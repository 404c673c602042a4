//! All commands, in list order.

import { ADD } from "./add";
import { ARRANGE } from "./arrange";
import type { Command } from "./command";
import { EDIT } from "./edit";
import { VIEW } from "./view";

export const COMMANDS: readonly Command[] = [...ADD, ...EDIT, ...ARRANGE, ...VIEW];

export function commandOf(id: string): Command {
  const found = COMMANDS.find((command) => command.id === id);
  if (!found) throw new Error(`there is no command ${id}`);
  return found;
}
