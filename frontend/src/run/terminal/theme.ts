//! The terminal's colours: the page's own, light or dark like the page.

import type { ITheme } from "@xterm/xterm";
import { h } from "../../core/dom";

const COLOURS = {
  background: "--sunken",
  foreground: "--text",
  cursor: "--accent-text",
  cursorAccent: "--sunken",
  selectionBackground: "--accent-tint",
  scrollbarSliderBackground: "--border-strong",
  black: "--text-faint",
  red: "--state-failed",
  green: "--state-succeeded",
  yellow: "--state-waiting",
  blue: "--state-running",
  magenta: "--series-4",
  cyan: "--state-reused",
  white: "--text-muted",
  brightBlack: "--text-faint",
  brightRed: "--state-failed",
  brightGreen: "--state-succeeded",
  brightYellow: "--state-waiting",
  brightBlue: "--state-running",
  brightMagenta: "--series-4",
  brightCyan: "--state-reused",
  brightWhite: "--text",
};

/** The current colours at `place`, and the font. */
export function look(place: HTMLElement): { theme: ITheme; font: string } {
  // xterm does not resolve custom properties, but an element's computed colour is always plain.
  const probe = h("span");
  place.append(probe);
  const plain = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const theme: ITheme = Object.fromEntries(Object.entries(COLOURS).map(([word, name]) => [word, plain(name)]));
  probe.style.fontFamily = "var(--mono)";
  const font = getComputedStyle(probe).fontFamily;
  probe.remove();
  return { theme, font };
}
