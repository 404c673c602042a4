//! The terminal's screen: xterm, in the page's colours and under its policy.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { onTheme } from "../../core/theme";
import { t } from "../../core/texts";
import { strictElements } from "./strict";
import { look } from "./theme";

/** How large a screen is, in characters. */
export interface Size {
  columns: number;
  rows: number;
}

/** What a screen tells. */
export interface Heard {
  typed: (text: string) => void;
  resized: (size: Size) => void;
  /** Somebody wants to go elsewhere with the keyboard. */
  left: () => void;
}

/** A screen in `place`, which is on the page. */
export class Screen {
  readonly #terminal: Terminal;
  readonly #stop: () => void;

  constructor(place: HTMLElement, heard: Heard) {
    const stopStrict = strictElements();
    const { theme, font } = look(place);
    const terminal = new Terminal({
      theme,
      fontFamily: font,
      fontSize: 13,
      minimumContrastRatio: 4.5,
      scrollback: 5000,
      cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
      screenReaderMode: false,
    });
    this.#terminal = terminal;
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(place);
    terminal.textarea?.setAttribute("aria-label", t("terminals.screen"));
    fit.fit();
    terminal.onData(heard.typed);
    terminal.onResize(({ cols, rows }) => { heard.resized({ columns: cols, rows }); });
    terminal.attachCustomKeyEventHandler((event) => !this.#leaves(event, heard.left));
    const watch = new ResizeObserver(() => { fit.fit(); });
    watch.observe(place);
    const stopTheme = onTheme(() => { terminal.options.theme = look(place).theme; });
    this.#stop = () => {
      watch.disconnect();
      stopTheme();
      stopStrict();
    };
  }

  /** How large it is. */
  get size(): Size {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** Shows bytes; `done` is called when they are on the screen. */
  show(bytes: Uint8Array, done?: () => void): void {
    // eslint-disable-next-line no-restricted-properties -- the terminal's own: what it is given never becomes markup
    this.#terminal.write(bytes, done);
  }

  /** Says something on a line of its own, that is not the shell's. */
  say(text: string): void {
    this.show(new TextEncoder().encode(`\r\n\x1b[33m[${text}]\x1b[0m\r\n`));
  }

  /** Empties it. */
  reset(): void {
    this.#terminal.reset();
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Takes no more keys. */
  freeze(): void {
    this.#terminal.options.disableStdin = true;
    this.#terminal.options.cursorBlink = false;
  }

  dispose(): void {
    this.#terminal.dispose();
    this.#stop();
  }

  // Tab is the shell's, so that there must be another way out. Shells do not tell this from Ctrl+L.
  #leaves(event: KeyboardEvent, left: () => void): boolean {
    if (!(event.ctrlKey && event.shiftKey && event.code === "KeyL")) return false;
    event.preventDefault();
    if (event.type === "keydown") left();
    return true;
  }
}
