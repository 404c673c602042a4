//! How the series of a plot look, on its canvas and as marks beside their names.

import { h } from "../core/dom";
import type { PlotSeries } from "./plot-options";

const COLOURS = 6;

export type Stroke = "solid" | "dashed" | "dotted" | "points";

/** The custom property with the colour of a series. */
export function colourOf({ dashed }: PlotSeries, index: number): string {
  return dashed ? "--text-muted" : `--series-${(index % COLOURS) + 1}`;
}

/** Lines of the same colour differ by their dashes. */
export function strokeOf({ dashed, dotted, marks }: PlotSeries, index: number): Stroke {
  if (marks) return "points";
  if (dashed && dotted) return "dotted";
  return dashed || index >= COLOURS ? "dashed" : "solid";
}

/** The mark beside the name of a series. */
export function mark(series: PlotSeries, index: number): HTMLElement {
  const made = h("span", { class: "plot-mark", "data-stroke": strokeOf(series, index), "aria-hidden": "true" });
  made.style.setProperty("color", `var(${colourOf(series, index)})`);
  return made;
}

/** A custom property as a plain colour: a canvas does not resolve custom properties. */
export function resolved(box: HTMLElement, name: string): string {
  const probe = h("span");
  probe.style.color = `var(${name})`;
  box.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** A computed colour, mostly transparent. */
export function translucent(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.35)");
}
