//! Templates by group, as the palette lists them.

import { t } from "../../core/texts";
import type { TemplateInfo, Templates } from "../../editor/templates";

const NAMES: Readonly<Record<string, string>> = {
  basics: /* text */ "canvas.group-basics",
  data: /* text */ "canvas.group-data",
  media: /* text */ "canvas.group-media",
  training: /* text */ "canvas.group-training",
  model: /* text */ "canvas.group-model",
  distributed: /* text */ "canvas.group-distributed",
};

/** A group's name in the user's language; a custom group has its own name. */
export function groupName(group: string): string {
  const key = NAMES[group];
  return key === undefined ? group.replaceAll("-", " ") : t(key);
}

/** The groups with their templates: built-in groups first, then by name. */
export function grouped(templates: Templates): [group: string, templates: TemplateInfo[]][] {
  const groups = new Map<string, TemplateInfo[]>();
  for (const template of templates.values()) groups.set(template.group, [...(groups.get(template.group) ?? []), template]);
  const known = Object.keys(NAMES);
  const rank = (group: string) => (known.includes(group) ? known.indexOf(group) : known.length);
  return [...groups].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
}
