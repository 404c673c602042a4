//! Layouts that are being made: one at a time, and whoever waits may end it.

import { t } from "../core/texts";
import type { Places } from "./layout";
import type { Ui } from "./ui";

/** The layouts of a canvas. */
export class Layouts {
  readonly #ui: Ui;
  #going: AbortController | null = null;

  constructor(ui: Ui) {
    this.#ui = ui;
  }

  /** Makes one; the one that is being made ends. `null` when it was ended before. */
  async make(work: (signal: AbortSignal) => Promise<Places | null>): Promise<Places | null> {
    this.#going?.abort();
    const own = new AbortController();
    this.#going = own;
    this.#ui.set({ layingOut: true });
    try {
      return await work(own.signal);
    } finally {
      if (this.#going === own) {
        this.#going = null;
        this.#ui.set({ layingOut: false });
      }
    }
  }

  /** Ends the one that is being made: everything stays where it is. Whether there was one. */
  cancel(): boolean {
    if (!this.#going) return false;
    this.#going.abort();
    this.#ui.set({ said: t("canvas.said-layout-cancelled") });
    return true;
  }
}
