//! The titles of command groups.

import { t } from "../../core/texts";
import type { Group } from "../commands/command";

const TITLES: Readonly<Record<Group, string>> = {
  add: /* text */ "canvas.group-add",
  edit: /* text */ "canvas.group-edit",
  select: /* text */ "canvas.group-select",
  arrange: /* text */ "canvas.group-arrange",
  view: /* text */ "canvas.group-view",
  help: /* text */ "canvas.group-help",
};

/** In the user's language. */
export function groupTitle(group: Group): string {
  return t(TITLES[group]);
}
