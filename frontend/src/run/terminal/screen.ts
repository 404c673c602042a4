//! The terminal's screen: xterm, in the page's colours and under its CSP.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { onTheme } from "../../core/theme";
import { t } from "../../core/texts";
import { strictElements } from "./strict";
import { look } from "./theme";

/** The size of a screen, in characters. */
export interface Size {
  columns: number;
  rows: number;
}

/** Callbacks of a screen. */
export interface Heard {
  typed: (text: string) => void;
  resized: (size: Size) => void;
  /** The user wants to move the focus elsewhere. */
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

  get size(): Size {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** Writes bytes; `done` is called when they are on the screen. */
  show(bytes: Uint8Array, done?: () => void): void {
    // eslint-disable-next-line no-restricted-properties -- the terminal's own: what it is given never becomes markup
    this.#terminal.write(bytes, done);
  }

  /** Shows a message on its own line, distinct from shell output. */
  say(text: string): void {
    this.show(new TextEncoder().encode(`\r\n\x1b[33m[${text}]\x1b[0m\r\n`));
  }

  /** Clears the screen. */
  reset(): void {
    this.#terminal.reset();
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Disables input. */
  freeze(): void {
    this.#terminal.options.disableStdin = true;
    this.#terminal.options.cursorBlink = false;
  }

  dispose(): void {
    this.#terminal.dispose();
    this.#stop();
  }

  // Tab belongs to the shell, so another key must leave. Shells do not distinguish it from Ctrl+L.
  #leaves(event: KeyboardEvent, left: () => void): boolean {
    if (!(event.ctrlKey && event.shiftKey && event.code === "KeyL")) return false;
    event.preventDefault();
    if (event.type === "keydown") left();
    return true;
  }
}
