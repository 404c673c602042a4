//! The terminal's colours: the page's own, so that it is light where the page is, and dark where that is.

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

/** The colours as they are now, seen from `place`; and the font. */
export function look(place: HTMLElement): { theme: ITheme; font: string } {
  // xterm does not know custom properties; an element's own colour is always a plain one.
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
