//! A plot with its title and its legend as a picture.

import { h } from "../core/dom";

export interface Caption {
  readonly title: string;
  readonly names: readonly { readonly label: string; readonly colour: string }[];
  readonly text: string;
  readonly surface: string;
}

/** In CSS pixels. */
const [EDGE, LINE, GAP] = [12, 20, 16];
const FONT = "system-ui, sans-serif";

/** Draws a plot's canvas with a background, the title above it, and the names below it. */
export function picture(plot: HTMLCanvasElement, { title, names, text, surface }: Caption): HTMLCanvasElement {
  const ratio = devicePixelRatio;
  const [width, height] = [plot.width / ratio, plot.height / ratio];
  const canvas = h("canvas");
  const context = canvas.getContext("2d");
  if (context === null) return canvas;
  const small = `12px ${FONT}`;
  context.font = small;
  const places = flow(names.map(({ label }) => context.measureText(label).width + GAP), width);
  const rows = (places.at(-1)?.row ?? -1) + 1;
  // A new size resets the context.
  canvas.width = Math.round((width + 2 * EDGE) * ratio);
  canvas.height = Math.round((height + (rows + 1) * LINE + 2 * EDGE) * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = text;
  context.textBaseline = "middle";
  context.font = `600 14px ${FONT}`;
  context.fillText(title, EDGE, EDGE + LINE / 2, width);
  context.drawImage(plot, EDGE, EDGE + LINE, width, height);
  context.font = small;
  for (const [at, { label, colour }] of names.entries()) {
    const { left = 0, row = 0 } = places[at] ?? {};
    const [x, y] = [EDGE + left, EDGE + LINE + height + (row + 0.5) * LINE];
    context.fillStyle = colour;
    context.fillRect(x, y - 5, 10, 10);
    context.fillStyle = text;
    context.fillText(label, x + GAP, y, width);
  }
  return canvas;
}

/** The places of names in rows of this width. */
function flow(widths: readonly number[], most: number): { left: number; row: number }[] {
  let [left, row] = [0, 0];
  return widths.map((width) => {
    if (left > 0 && left + width > most) [left, row] = [0, row + 1];
    const place = { left, row };
    left += width + GAP;
    return place;
  });
}
