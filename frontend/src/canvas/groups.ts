//! The colour and icon of each template group, the same in the palette and on the canvas.

import type { TemplateInfo } from "../editor/templates";
import type { ColourName } from "./paint/colours";

const COLOURS = ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6"] as const satisfies ColourName[];

// Built-in groups keep their colours whatever else is installed.
const KNOWN: Readonly<Record<string, { colour: ColourName; icon: string }>> = {
  basics: { colour: "series-1", icon: "code" },
  data: { colour: "series-3", icon: "table" },
  distributed: { colour: "series-2", icon: "cluster" },
  training: { colour: "series-4", icon: "chart" },
  model: { colour: "series-5", icon: "book" },
  "machine-learning": { colour: "series-4", icon: "chart" },
};

/** The colour's name in tokens.css. Templates that are not installed have a neutral one. */
export function groupColour(template: TemplateInfo | undefined): ColourName {
  if (!template) return "control-border";
  const known = KNOWN[template.group];
  if (known) return known.colour;
  let sum = 0;
  for (const letter of template.group) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521;
  return COLOURS[sum % COLOURS.length] ?? "series-1";
}

/** The icon's name in icons.svg. */
export function groupIcon(template: TemplateInfo | undefined): string {
  if (!template) return "warning";
  return KNOWN[template.group]?.icon ?? "template";
}
