// Updates parts of a page from the server's rendering. Events only trigger a refresh, so each part is
// rendered in one place, and there is one way to be up to date.

import { loadPage } from "../api/page";
import { morph } from "./morph";

/** The minimum interval between requests, in milliseconds. */
const PAUSE = 1000;
/** A page that is slow to render is requested less often: it takes at most this fraction of the time. */
const PART = 1 / 5;
/** Estimated starts are refreshed at this interval in milliseconds, even without events. */
const ESTIMATED = 60_000;

/** Reloads this page on request, at most once a second. */
export class Refresher {
  readonly #take: (fresh: Document) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #next = 0;
  #busy = false;
  #again = false;

  /** `take` gets each new rendering of the page. */
  constructor(take: (fresh: Document) => void) {
    this.#take = take;
    setInterval(() => { if (document.querySelector("[data-estimate]") !== null) this.soon(); }, ESTIMATED);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible" && this.#again) this.soon();
    });
  }

  /** Called when the page may be outdated. */
  soon(): void {
    this.#again = true;
    if (this.#timer !== undefined || this.#busy || document.visibilityState === "hidden") return;
    const wait = Math.max(100, this.#next - performance.now());
    this.#timer = setTimeout(() => void this.#ask(), wait);
  }

  async #ask(): Promise<void> {
    this.#timer = undefined;
    const begin = performance.now();
    this.#again = false;
    this.#busy = true;
    try {
      const fresh = await loadPage(location.href);
      if (fresh !== null) this.#take(fresh);
    } catch {
      // The server is unreachable. The event stream reports that, and triggers a refresh on reconnection.
    }
    this.#busy = false;
    const end = performance.now();
    this.#next = Math.max(begin + PAUSE, end + (end - begin) / PART);
    // A request may have come while it waited, which the compiler cannot see.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
    if (this.#again) this.soon();
  }
}

/** Updates the parts with these ids; parts missing in the new page stay unchanged. */
export function takeParts(fresh: Document, ids: readonly string[]): void {
  for (const id of ids) {
    const [old, now] = [document.getElementById(id), fresh.getElementById(id)];
    if (old !== null && now !== null) morph(old, now);
  }
}
