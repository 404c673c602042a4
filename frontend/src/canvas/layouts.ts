//! Running layouts: one at a time, each can be cancelled.

import { t } from "../core/texts";
import type { Places } from "./layout";
import type { Ui } from "./ui";

export class Layouts {
  readonly #ui: Ui;
  #going: AbortController | null = null;

  constructor(ui: Ui) {
    this.#ui = ui;
  }

  /** Starts a layout and cancels the previous one. `null` if it is cancelled itself. */
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

  /** Cancels the running layout: everything stays in place. Returns whether there was one. */
  cancel(): boolean {
    if (!this.#going) return false;
    this.#going.abort();
    this.#ui.set({ said: t("canvas.said-layout-cancelled") });
    return true;
  }
}
